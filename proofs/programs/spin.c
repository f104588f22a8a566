/* Burns processor time in proportion to its argument, without touching memory or the system: a program of known
   cost. `spin forever` is the busy neighbour. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    uint64_t turns = argc > 1 && strcmp(argv[1], "forever") ? strtoull(argv[1], 0, 10) : UINT64_MAX;
    volatile uint64_t sink = 1;
    uint64_t x = 88172645463325252ull;
    for (uint64_t i = 0; i < turns; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    sink = x;
    return sink == 0;
}
