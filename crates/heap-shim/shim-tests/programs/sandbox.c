/* Enters a seccomp sandbox that knows only the system calls that glibc's own heap needs, and allocates there. */
#define _GNU_SOURCE
#include "check.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ALLOW(number)                                               \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1),            \
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

int main(int count, char **arguments)
{
    const unsigned otherwise = count > 1 && strcmp(arguments[1], "kill") == 0 ? SECCOMP_RET_KILL_PROCESS
                                                                               : SECCOMP_RET_ERRNO | EPERM;
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(SYS_mmap), ALLOW(SYS_munmap), ALLOW(SYS_mremap), ALLOW(SYS_mprotect), ALLOW(SYS_madvise),
        ALLOW(SYS_brk), ALLOW(SYS_futex), ALLOW(SYS_write), ALLOW(SYS_clock_gettime), ALLOW(SYS_sched_yield),
        ALLOW(SYS_exit_group), ALLOW(SYS_fstat), ALLOW(SYS_newfstatat), ALLOW(SYS_getrandom),
        BPF_STMT(BPF_RET | BPF_K, otherwise),
    };
    const struct sock_fprog program = {.len = sizeof code / sizeof code[0], .filter = code};
    free(malloc(1)); /* A program has allocated something before it locks itself in. */
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
    static char *blocks[1000];
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 1000; i++) {
            const size_t size = (size_t)(i * 37 % 5000) + (i % 100 == 0 ? 1000000 : 0);
            CHECK((blocks[i] = malloc(size + 1)) != NULL);
            blocks[i][size] = 1;
        }
        for (int i = 0; i < 1000; i++)
            free(blocks[i]);
    }
    const char message[] = "ok\n";
    return write(1, message, sizeof message - 1) == 3 ? 0 : 1;
}
