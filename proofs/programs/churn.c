/* Two threads allocate and free bursts of mixed blocks, all by themselves: the C library's caches serve them well, and a
   setting that takes the caches or the arenas away makes it much slower. Argument: thousands of bursts. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t bursts;

static void *work(void *argument) {
    uint64_t state = (uint64_t)(uintptr_t)argument * 0x9e3779b97f4a7c15ull | 1, sum = 0;
    char *blocks[7];
    for (uint64_t i = 0; i < bursts; i++) {
        for (int j = 0; j < 7; j++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            blocks[j] = malloc(1 + state % 100);
            blocks[j][0] = (char)state;
        }
        for (int j = 0; j < 7; j++) {
            sum += (unsigned char)blocks[j][0];
            free(blocks[j]);
        }
    }
    return (void *)(uintptr_t)sum;
}

int main(int argc, char **argv) {
    pthread_t threads[2];
    uint64_t sum = 0;
    bursts = (argc > 1 ? strtoull(argv[1], 0, 10) : 2000) * 1000;
    for (uintptr_t i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, (void *)(i + 1));
    for (int i = 0; i < 2; i++) {
        void *part;
        pthread_join(threads[i], &part);
        sum += (uint64_t)(uintptr_t)part;
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
