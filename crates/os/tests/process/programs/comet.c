/* Never the same process for long: forks and leaves the rest to its child, for ten seconds at most.
   The argument is a mark that makes it visible in a process list. */
#include <time.h>
#include <unistd.h>

int main(void) {
    time_t end = time(0) + 10;
    while (time(0) < end) {
        if (fork() != 0) _exit(0);
        setsid();
    }
    return 0;
}
