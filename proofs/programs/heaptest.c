/* The heaptest loop in plain C, for comparison with the worker's: threads, max_size, count. Prints nanoseconds per
   operation of one thread, the generator's cost subtracted, thread start and join inside the time. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t sizes, count;

static inline uint64_t below(uint64_t *state, uint64_t bound) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint64_t)(((unsigned __int128)*state * bound) >> 64);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static void *work(void *argument) {
    uint64_t state = (uint64_t)(uintptr_t)argument * 0x9e3779b97f4a7c15ull | 1;
    for (uint64_t i = 0; i < count; i++) {
        void *block = malloc(below(&state, sizes) + 1);
        __asm__ volatile("" : "+r"(block)::"memory");
        if (!block)
            abort();
        free(block);
    }
    return 0;
}

static double empty(void) {
    uint64_t state = 1;
    double start = now();
    for (uint64_t i = 0; i < 200000; i++) {
        uint64_t bound = sizes;
        __asm__ volatile("" : "+r"(bound));
        uint64_t drawn = below(&state, bound);
        __asm__ volatile("" ::"r"(drawn) : "memory");
    }
    return (now() - start) / 200000;
}

int main(int argc, char **argv) {
    if (argc < 4)
        return 2;
    uint64_t threads = strtoull(argv[1], 0, 10);
    sizes = strtoull(argv[2], 0, 10) - 1;
    count = strtoull(argv[3], 0, 10);
    pthread_t ids[64];
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    double results[9], turns[9];
    for (int sample = 0; sample < 9; sample++) {
        turns[sample] = empty();
        double start = now();
        for (uint64_t i = 0; i < threads; i++)
            if (pthread_create(&ids[i], &attributes, work, (void *)(uintptr_t)(i + 1)))
                return 1;
        for (uint64_t i = 0; i < threads; i++)
            pthread_join(ids[i], 0);
        results[sample] = (now() - start) / count - turns[sample];
    }
    for (int i = 0; i < 9; i++)
        for (int j = i + 1; j < 9; j++)
            if (results[j] < results[i]) {
                double t = results[i];
                results[i] = results[j];
                results[j] = t;
            }
    printf("%.4f\n", results[4]);
    return 0;
}
