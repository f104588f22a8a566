/* The corners of the C functions, as glibc cuts them. Ends with "ok", or names the first corner that differs. */
#define _GNU_SOURCE
#include "check.h"
#include <dlfcn.h>
#include <malloc.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Hidden from the compiler, which knows too much about malloc. */
static volatile size_t huge = SIZE_MAX, half = (size_t)PTRDIFF_MAX + 1, zero = 0;

static void zero_sizes(void)
{
    void *a = malloc(zero), *b = malloc(zero), *c = calloc(zero, 8), *d = realloc(NULL, zero);
    CHECK(a && b && c && d && a != b);
    free(a), free(b), free(c), free(d), free(NULL);
    CHECK(realloc(malloc(10), zero) == NULL);
    CHECK(malloc_usable_size(NULL) == 0);
}

static void failures(void)
{
    errno = 0;
    CHECK(malloc(huge) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(malloc(half) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(calloc(huge / 2, 3) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(calloc(1, half) == NULL && errno == ENOMEM);
    char *p = malloc(32);
    memset(p, 7, 32);
    errno = 0;
    CHECK(realloc(p, half) == NULL && errno == ENOMEM && p[31] == 7);
    errno = 0;
    CHECK(reallocarray(p, huge / 2, 3) == NULL && errno == ENOMEM && p[31] == 7);
    free(p);
    errno = 0;
    CHECK(aligned_alloc(64, half) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(pvalloc(huge - 5) == NULL && errno == ENOMEM);
}

static void alignments(int replaced)
{
    void *p = &p;
    errno = 5;
    CHECK(posix_memalign(&p, 3, 8) == EINVAL && posix_memalign(&p, 0, 8) == EINVAL);
    CHECK(posix_memalign(&p, 4, 8) == EINVAL && posix_memalign(&p, 24, 8) == EINVAL);
    CHECK(posix_memalign(&p, 64, half) == ENOMEM);
    CHECK(p == &p);
    CHECK(!replaced || errno == 5); /* glibc's own sets ENOMEM. */
    for (size_t alignment = 8; alignment <= 4u << 20; alignment *= 2) {
        for (size_t size = 0; size < 3; size++) {
            const size_t length = size * alignment / 2 + size;
            CHECK(posix_memalign(&p, alignment, length) == 0 && (uintptr_t)p % alignment == 0);
            CHECK(malloc_usable_size(p) >= length);
            memset(p, 1, length);
            free(p);
            CHECK((p = aligned_alloc(alignment, length)) && (uintptr_t)p % alignment == 0);
            CHECK((p = realloc(p, length + 9000)));
            free(p);
        }
    }
    CHECK((p = aligned_alloc(1, 1)) != NULL);
    free(p);
    CHECK((p = memalign(24, 100)) && (uintptr_t)p % 32 == 0);
    free(p);
    if (replaced) { /* glibc itself learned this in 2.38. */
        errno = 0;
        CHECK(aligned_alloc(24, 100) == NULL && errno == EINVAL);
    }
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    CHECK((p = valloc(3)) && (uintptr_t)p % page == 0);
    free(p);
    CHECK((p = pvalloc(3)) && (uintptr_t)p % page == 0 && malloc_usable_size(p) >= page);
    free(p);
    for (size_t size = 16; size < 5000; size++) {
        CHECK((p = malloc(size)) && (uintptr_t)p % 16 == 0);
        free(p);
    }
}

static void contents(void)
{
    for (size_t size = 1; size < 3u << 20; size = size * 3 / 2 + 1) {
        unsigned char *dirty = malloc(size);
        memset(dirty, 0xa5, malloc_usable_size(dirty));
        free(dirty);
        unsigned char *p = calloc(size, 1);
        for (size_t i = 0; i < size; i++)
            CHECK(p[i] == 0);
        for (size_t i = 0; i < size; i++)
            p[i] = (unsigned char)i;
        p = realloc(p, size * 2);
        for (size_t i = 0; i < size; i++)
            CHECK(p[i] == (unsigned char)i);
        p = realloc(p, size / 2 + 1);
        for (size_t i = 0; i < size / 2; i++)
            CHECK(p[i] == (unsigned char)i);
        free(p);
    }
    void (*cfree)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT, "cfree");
    if (cfree)
        cfree(malloc(10));
}

/* Locked memory makes the madvise(MADV_DONTNEED) of a heap fail. Only the blocks are locked: mlockall would also
 * touch all the address space that a heap holds in reserve. */
static void errno_is_kept(void)
{
    for (int locked = 0; locked < 2; locked++) {
        for (size_t size = 1; size < 20u << 20; size = size * 2 + 1) {
            void *blocks[8];
            for (int i = 0; i < 8; i++) {
                CHECK((blocks[i] = malloc(size)) != NULL);
                memset(blocks[i], 1, size < 4096 ? size : 4096);
                if (locked && size < 5u << 20)
                    (void)mlock(blocks[i], size);
            }
            for (int i = 0; i < 8; i++) {
                errno = 77;
                free(blocks[i]);
                CHECK(errno == 77);
            }
        }
        malloc_trim(0);
    }
}

/* What the kernel refuses to forget must still read as zero. */
static void locked_memory_is_zeroed(void)
{
    for (size_t size = 64 << 10; size < 3u << 20; size *= 2) {
        for (int round = 0; round < 3; round++) {
            unsigned char *p = malloc(size);
            memset(p, 0xa5, size);
            (void)mlock(p, size);
            free(p);
            p = calloc(size, 1);
            for (size_t i = 0; i < size; i++)
                CHECK(p[i] == 0);
            free(p);
        }
    }
}

int main(int count, char **arguments)
{
    zero_sizes();
    failures();
    alignments(count > 1 && strcmp(arguments[1], "replaced") == 0);
    contents();
    errno_is_kept();
    locked_memory_is_zeroed();
    puts("ok");
    return 0;
}
