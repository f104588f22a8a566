/* As the interpreter of a program: executes its first argument in its place, or waits for ever. */
#if defined(__x86_64__)
__asm__(".globl _start\n"
        "_start:\n"
        "    mov (%rsp), %rcx\n"
        "    lea 16(%rsp, %rcx, 8), %rdx\n"
        "    lea 8(%rsp), %rsi\n"
        "    mov 16(%rsp), %rdi\n"
        "    test %rdi, %rdi\n"
        "    jz wait\n"
        "    mov $59, %eax\n" /* execve */
        "    syscall\n"
        "wait:\n"
        "    mov $34, %eax\n" /* pause */
        "    syscall\n"
        "    jmp wait\n");
#elif defined(__aarch64__)
__asm__(".globl _start\n"
        "_start:\n"
        "    ldr x3, [sp]\n"
        "    add x1, sp, #8\n"
        "    add x2, x1, x3, lsl #3\n"
        "    add x2, x2, #8\n"
        "    ldr x0, [sp, #16]\n"
        "    cbz x0, wait\n"
        "    mov x8, #221\n" /* execve */
        "    svc #0\n"
        "wait:\n"
        "    mov x0, #0\n"
        "    mov x1, #0\n"
        "    mov x2, #0\n"
        "    mov x3, #0\n"
        "    mov x8, #73\n" /* ppoll */
        "    svc #0\n"
        "    b wait\n");
#endif
