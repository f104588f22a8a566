/* A library that never lets the program begin. */
#include <unistd.h>

__attribute__((constructor)) static void hang(void)
{
    for (;;)
        pause();
}
