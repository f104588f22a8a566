/* Loads a library by its path while threads run, as a plugin would. Prints "loaded", or the loader's message. */
#define _GNU_SOURCE
#include "check.h"
#include <dlfcn.h>
#include <pthread.h>

static void *wait_on_lock(void *lock)
{
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
    return NULL;
}

int main(int count, char **arguments)
{
    CHECK(count == 2);
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    pthread_t thread;
    pthread_create(&thread, NULL, wait_on_lock, &lock);
    void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        puts(dlerror());
    } else {
        void *(*allocate)(size_t) = (void *(*)(size_t))dlsym(library, "malloc");
        void (*release)(void *) = (void (*)(void *))dlsym(library, "free");
        for (int i = 0; i < 1000; i++)
            release(allocate((size_t)i));
        dlclose(library);
        puts("loaded");
    }
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
