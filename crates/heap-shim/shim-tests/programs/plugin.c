/* A library for RTLD_DEEPBIND: its own malloc and free are those of its own dependencies. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

int within(void)
{
    char *block = malloc(100);
    strcpy(block, "within");
    block = realloc(block, 10000);
    const int good = strcmp(block, "within") == 0;
    free(block);
    return good;
}

/* The C library allocates in its own name, this library frees. */
int across(void)
{
    char *copy = strdup("across");
    const int good = strcmp(copy, "across") == 0;
    free(copy);
    return good;
}
