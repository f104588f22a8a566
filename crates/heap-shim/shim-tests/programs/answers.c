/* Prints what the heap says about itself while 64 MiB are held, as NAME=VALUE lines. */
#define _GNU_SOURCE
#include "check.h"
#include <dlfcn.h>
#include <malloc.h>
#include <string.h>

int main(void)
{
    enum { COUNT = 1024, SIZE = 64 << 10 };
    static char *blocks[COUNT];
    const struct mallinfo2 before = mallinfo2();
    for (int i = 0; i < COUNT; i++) {
        CHECK((blocks[i] = malloc(SIZE)) != NULL);
        memset(blocks[i], 1, SIZE);
    }
    const struct mallinfo2 held = mallinfo2();
    const struct mallinfo narrow = mallinfo();
    printf("mapped_mib=%ld\n", (long)(held.arena + held.hblkhd - before.arena - before.hblkhd) >> 20);
    printf("in_use_mib=%ld\n", (long)(held.uordblks + held.hblkhd - before.uordblks - before.hblkhd) >> 20);
    printf("narrow_agrees=%d\n", narrow.arena > 0 && (size_t)narrow.arena / 4 <= held.arena);
    for (int i = 0; i < COUNT; i++)
        free(blocks[i]);
    printf("trim=%d\n", malloc_trim(0));
    printf("mallopt=%d\n", mallopt(M_MMAP_THRESHOLD, 1 << 20));
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    const int info = malloc_info(0, stream);
    CHECK(malloc_info(1, stream) != 0);
    fclose(stream);
    printf("info=%d frame=%d\n", info, strncmp(text, "<malloc version=", 16) == 0 && strstr(text, "</malloc>") != NULL);
    const char *name = dlsym(RTLD_DEFAULT, "underhood_heap_name");
    printf("name=%s\n", name ? name : "none");
    free(text);
    return 0;
}
