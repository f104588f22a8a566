/* The smallest static program: no C library, ends at once. */
void _start(void) {
#if defined(__x86_64__)
    __asm__ volatile("mov $60, %eax; xor %edi, %edi; syscall");
#elif defined(__aarch64__)
    __asm__ volatile("mov x8, #93; mov x0, #0; svc 0");
#endif
}
