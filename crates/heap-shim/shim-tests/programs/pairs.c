/* Times pairs of malloc and free with random sizes below 2048, on one thread or more, and prints the fastest and the
 * median batch in ns per pair. Which heap: by preloading, or, compiled with MALLOC and FREE defined, linked in. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifndef MALLOC
#define MALLOC malloc
#define FREE free
#else
void *MALLOC(size_t);
void FREE(void *);
#endif

enum { SIZES = 2048 };
static uint16_t sizes[SIZES];
static int batches, rounds;
static pthread_barrier_t start;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void *work(void *result)
{
    double *times = result;
    pthread_barrier_wait(&start);
    for (int batch = 0; batch < batches; batch++) {
        const double begin = now();
        for (int round = 0; round < rounds; round++) {
            void *volatile block = MALLOC(sizes[round % SIZES]);
            FREE(block);
        }
        times[batch] = (now() - begin) / rounds;
    }
    return NULL;
}

int main(int count, char **arguments)
{
    const int threads = count > 1 ? atoi(arguments[1]) : 1;
    batches = count > 2 ? atoi(arguments[2]) : 200;
    rounds = count > 3 ? atoi(arguments[3]) : 2048;
    uint32_t state = 2463534242u;
    for (int i = 0; i < SIZES; i++) {
        state ^= state << 13, state ^= state >> 17, state ^= state << 5;
        sizes[i] = (uint16_t)(state % 2047 + 1);
    }
    double *times = calloc((size_t)(batches * threads), sizeof *times);
    pthread_t running[64];
    pthread_barrier_init(&start, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++)
        pthread_create(&running[i], NULL, work, times + i * batches);
    for (int i = 0; i < threads; i++)
        pthread_join(running[i], NULL);
    qsort(times, (size_t)(batches * threads), sizeof *times, by_value);
    printf("%.3f %.3f\n", times[0], times[batches * threads / 2]);
    return 0;
}
