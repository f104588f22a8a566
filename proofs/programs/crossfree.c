/* A program that gains from another heap: two threads, one allocates small blocks, the other frees them, through a
   ring. Prints a checksum. Arguments: millions of blocks; millions of turns of a loop after that, from which no heap can take anything. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { RING = 1 << 12, BATCH = 256 };
static char *_Atomic ring[RING];
static _Atomic uint64_t head, tail;
static uint64_t total;

static void *consume(void *argument) {
    uint64_t *sum = argument, taken = 0;
    while (taken < total) {
        uint64_t available = atomic_load_explicit(&head, memory_order_acquire);
        if (available == taken) {
            sched_yield();
            continue;
        }
        for (; taken < available; taken++) {
            char *block = ring[taken % RING];
            *sum = *sum * 31 + (unsigned char)block[0];
            free(block);
        }
        atomic_store_explicit(&tail, taken, memory_order_release);
    }
    return 0;
}

int main(int argc, char **argv) {
    uint64_t sum = 0, state = 88172645463325252ull, made = 0;
    pthread_t consumer;
    total = (argc > 1 ? strtoull(argv[1], 0, 10) : 2) * 1000000 / BATCH * BATCH;
    pthread_create(&consumer, 0, consume, &sum);
    while (made < total) {
        while (made - atomic_load_explicit(&tail, memory_order_acquire) > RING - BATCH)
            sched_yield();
        for (int i = 0; i < BATCH; i++, made++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            char *block = malloc(16 + state % 200);
            block[0] = (char)made;
            ring[made % RING] = block;
        }
        atomic_store_explicit(&head, made, memory_order_release);
    }
    pthread_join(consumer, 0);
    for (uint64_t turns = argc > 2 ? strtoull(argv[2], 0, 10) * 1000000 : 0; turns; turns--) {
        state = state * 6364136223846793005ull + 1;
        __asm__ volatile("" : "+r"(state)); /* not to be foreseen by the compiler */
    }
    sum += state;
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
