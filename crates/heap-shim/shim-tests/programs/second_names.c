/* Mixes glibc's second names with the plain ones, as old profilers do. */
#include "check.h"
#include <string.h>

void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

int main(void)
{
    for (size_t size = 1; size < 100000; size = size * 3 / 2 + 1) {
        free(__libc_malloc(size));
        __libc_free(malloc(size));
        free(__libc_memalign(256, size));
        void *block = __libc_calloc(size, 2);
        block = realloc(block, size * 3);
        block = __libc_realloc(block, size);
        memset(block, 1, size);
        free(block);
    }
    puts("ok");
    return 0;
}
