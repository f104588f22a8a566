/* A program with a heap of its own inside, exported under the usual names: a preloaded heap must not serve it, and
 * what the C library allocates for it must come from the same one. */
#define _GNU_SOURCE
#include "check.h"
#include <stdint.h>
#include <string.h>

static _Alignas(64) char pool[4 << 20];
static size_t used;

static int ours(const void *block) { return (const char *)block >= pool && (const char *)block < pool + sizeof pool; }

void *malloc(size_t size)
{
    size_t *block = (size_t *)(pool + used);
    used += (size + 16 + 63) / 64 * 64;
    if (used > sizeof pool)
        return NULL;
    block[0] = size;
    return block + 2;
}

void free(void *block)
{
    if (block && !ours(block))
        __builtin_trap();
}

void *calloc(size_t count, size_t size)
{
    void *block = malloc(count * size);
    return block ? memset(block, 0, count * size) : NULL;
}

void *realloc(void *block, size_t size)
{
    void *larger = malloc(size);
    if (block && larger)
        memcpy(larger, block, ((size_t *)block)[-2] < size ? ((size_t *)block)[-2] : size);
    return larger;
}

int main(void)
{
    char *copy = strdup("of the C library");
    CHECK(ours(copy));
    char *line = NULL;
    CHECK(asprintf(&line, "%s %d", copy, 7) > 0 && ours(line));
    free(line), free(copy);
    puts("ok");
    return 0;
}
