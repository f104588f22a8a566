/* A bare vfork + exec + wait loop, the floor of what starting a program costs. For every line on standard input it
   starts the program of its first argument once and prints the nanoseconds from before vfork to after wait. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv) {
    char line[64];
    if (argc < 2)
        return 2;
    while (fgets(line, sizeof line, stdin)) {
        struct timespec a, b;
        int status;
        clock_gettime(CLOCK_MONOTONIC, &a);
        pid_t child = vfork();
        if (child == 0) {
            execve(argv[1], argv + 1, environ);
            _exit(127);
        }
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
            return 1;
        clock_gettime(CLOCK_MONOTONIC, &b);
        printf("%lld\n", (b.tv_sec - a.tv_sec) * 1000000000ll + (b.tv_nsec - a.tv_nsec));
        fflush(stdout);
    }
    return 0;
}
