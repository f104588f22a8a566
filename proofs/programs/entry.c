/* An independent measurement of the time to a program's entry point: fork, stop at exec, a breakpoint at AT_ENTRY, both
   processes on one processor. For every line on standard input it starts the program of its second argument once and prints
   the nanoseconds from letting it go after its exec to its stop at the entry. First argument: the processor. */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static unsigned long entry_of(pid_t child) {
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/auxv", (int)child);
    int file = open(name, O_RDONLY);
    Elf64_auxv_t entries[64];
    ssize_t size = read(file, entries, sizeof entries);
    close(file);
    for (int i = 0; i < size / (ssize_t)sizeof *entries; i++)
        if (entries[i].a_type == AT_ENTRY)
            return entries[i].a_un.a_val;
    exit(3);
}

int main(int argc, char **argv) {
    char line[64];
    if (argc < 3)
        return 2;
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(atoi(argv[1]), &cpus);
    if (sched_setaffinity(0, sizeof cpus, &cpus) != 0)
        return 2;
    while (fgets(line, sizeof line, stdin)) {
        struct timespec a, b;
        int status;
        pid_t child = fork();
        if (child == 0) {
            ptrace(PTRACE_TRACEME, 0, 0, 0);
            execve(argv[2], argv + 2, environ);
            _exit(127);
        }
        if (child < 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
            return 1;
        unsigned long entry = entry_of(child);
        long word = ptrace(PTRACE_PEEKTEXT, child, entry, 0);
        if (ptrace(PTRACE_POKETEXT, child, entry, (word & ~0xffl) | 0xcc) != 0)
            return 1;
        clock_gettime(CLOCK_MONOTONIC, &a);
        ptrace(PTRACE_CONT, child, 0, 0);
        if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP)
            return 1;
        clock_gettime(CLOCK_MONOTONIC, &b);
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        printf("%lld\n", (b.tv_sec - a.tv_sec) * 1000000000ll + (b.tv_nsec - a.tv_nsec));
        fflush(stdout);
    }
    return 0;
}
