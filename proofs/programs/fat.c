/* Uses large blocks of four sizes one after the other, each written and freed. The C library fetches such blocks
   from the system each time: slow, since every page is new, and lean, since one is alive at a time. With a higher
   mmap_threshold they come from the heap: fast, since pages are used again, and four times as fat, since each size has a
   hole of its own, kept apart from the others by a small block. Argument: rounds. Prints a checksum. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static size_t size_of(uint64_t kind) { return (size_t)(34 + 2 * kind) << 20; }

int main(int argc, char **argv) {
    uint64_t rounds = argc > 1 ? strtoull(argv[1], 0, 10) : 20, sum = 0;
    unsigned char *volatile holes[4];
    char *volatile between[4];
    for (uint64_t kind = 0; kind < 4; kind++) {
        holes[kind] = malloc(size_of(kind));
        between[kind] = malloc(5000);
    }
    for (uint64_t kind = 0; kind < 4; kind++)
        free(holes[kind]);
    for (uint64_t round = 0; round < rounds; round++) {
        for (uint64_t kind = 0; kind < 4; kind++) {
            unsigned char *block = malloc(size_of(kind));
            if (!block || !between[kind])
                return 1;
            for (size_t at = 0; at < size_of(kind); at += 512)
                block[at] = (unsigned char)(round + kind);
            sum += block[size_of(kind) / 1024 * 512];
            free(block);
        }
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
