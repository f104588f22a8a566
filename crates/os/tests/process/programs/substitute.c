/* As the interpreter of a program: executes another program in its place, or waits for ever. */
#if defined(__x86_64__)
__asm__(".globl _start\n"
        "_start:\n"
        "    mov (%rsp), %rcx\n"           /* the number of arguments */
        "    lea 16(%rsp, %rcx, 8), %rdx\n" /* the environment */
        "    lea 8(%rsp), %rsi\n"          /* the arguments */
        "    mov 16(%rsp), %rdi\n"         /* the first of them: the program */
        "    test %rdi, %rdi\n"
        "    jz wait\n"
        "    mov $59, %eax\n"              /* execve */
        "    syscall\n"
        "wait:\n"
        "    mov $34, %eax\n"              /* pause */
        "    syscall\n"
        "    jmp wait\n");
#endif
