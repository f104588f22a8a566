/* Forks while threads allocate, free each other's blocks, start and end. Every child allocates and frees in turn; one
 * that hangs is ended by its alarm. Prints how many children came back well. */
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static _Atomic int stop;
static _Atomic(void *) exchange[64];

static unsigned next(unsigned *state)
{
    *state ^= *state << 13, *state ^= *state >> 17, *state ^= *state << 5;
    return *state;
}

static void churn(unsigned *state, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        const unsigned r = next(state);
        const size_t size = r % 64 == 0 ? r % 300000 : r % 2000;
        char *block = malloc(size + 1);
        block[0] = 1, block[size] = 1;
        free(__atomic_exchange_n(&exchange[r % 64], block, __ATOMIC_ACQ_REL));
    }
}

static void *brief(void *seed)
{
    unsigned state = (unsigned)(size_t)seed | 1;
    churn(&state, 50);
    return NULL;
}

static void *worker(void *seed)
{
    unsigned state = (unsigned)(size_t)seed | 1;
    while (!stop) {
        churn(&state, 200);
        pthread_t thread;
        if (pthread_create(&thread, NULL, brief, (void *)(size_t)next(&state)) == 0)
            pthread_join(thread, NULL);
    }
    return NULL;
}

int main(int count, char **arguments)
{
    const int forks = count > 1 ? atoi(arguments[1]) : 100;
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, worker, (void *)(i * 7919 + 1));
    unsigned state = 99;
    int good = 0;
    for (int i = 0; i < forks; i++) {
        churn(&state, 20);
        const pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            alarm(20);
            churn(&state, 2000);
            pthread_t thread;
            if (pthread_create(&thread, NULL, brief, (void *)7) == 0)
                pthread_join(thread, NULL);
            _exit(0);
        }
        int status = 0;
        CHECK(waitpid(child, &status, 0) == child);
        good += status == 0;
        if (status != 0) /* which signal tells a hang (14) from a crash (11) */
            printf("child %d: wait status %#x\n", i, (unsigned)status);
    }
    stop = 1;
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    printf("%d of %d\n", good, forks);
    return 0;
}
