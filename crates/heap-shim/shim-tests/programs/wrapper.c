/* A second preloaded library, of the kind that traces: it defines malloc and calloc and finds the next ones with
 * dlsym at the first call, inside the first allocation of the process. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

static _Thread_local int inside;
int wrapper_calls;

void *calloc(size_t count, size_t size)
{
    static void *(*real)(size_t, size_t);
    static _Alignas(16) char early[4096];
    static size_t used;
    if (!real) {
        if (inside) { /* dlsym allocates: the recursion that this test is about */
            void *block = early + used;
            used += (count * size + 15) / 16 * 16;
            return block;
        }
        inside = 1;
        real = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
        inside = 0;
    }
    wrapper_calls++;
    return real(count, size);
}

void *malloc(size_t size)
{
    static void *(*real)(size_t);
    if (!real)
        real = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
    wrapper_calls++;
    return real(size);
}
