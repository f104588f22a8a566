/* Makes as many threads as its argument says, one after the other and all at once, and joins them.
   Ends by a call from a second thread when there is another argument. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void *nothing(void *end) {
    if (end) exit(0);
    return 0;
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 0;
    pthread_t threads[64];
    for (int i = 0; i < count; i++) pthread_create(&threads[i], 0, nothing, 0);
    for (int i = 0; i < count; i++) pthread_join(threads[i], 0);
    if (argc > 2) {
        pthread_create(&threads[0], 0, nothing, argv);
        for (;;) pause();
    }
    return 0;
}
