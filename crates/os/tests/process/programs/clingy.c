/* Resists being ended: ignores SIGTERM and leaves a daemon that does the same in a session of its own.
   Arguments: a mark that makes both visible in a process list, and how many daemons. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int daemons = argc > 2 ? atoi(argv[2]) : 1;
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    for (int i = 0; i < daemons; i++)
        if (fork() == 0) {
            setsid();
            if (fork() != 0) _exit(0);
            for (;;) pause();
        }
    for (;;) pause();
}
