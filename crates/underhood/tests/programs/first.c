// A library with everything that a loader has to do for one. Another library and the program refer to it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int first_data = 42;                      // copied into a program that uses it directly (COPY)
int *first_pointer = &first_data;         // must lead to the copy, wherever that is
_Thread_local int first_tls = 7;
const char *const first_names[] = {"one", "two", "three"};
void *(*first_allocate)(size_t) = malloc; // a pointer to a function of the C library, in data
size_t (*first_length)(const char *) = strlen; // to one that chooses an implementation at start

extern void nobody_defines_this(void) __attribute__((weak));
int first_has_nobody(void) { return nobody_defines_this != 0; }

int first_common(void) { return 1; }      // the program has its own, which wins
int first_asks_common(void) { return first_common(); }

static int chosen_one(void) { return 11; }
static int (*choose(void))(void) { return chosen_one; }
int first_ifunc(void) __attribute__((ifunc("choose")));
int (*first_ifunc_pointer)(void) = first_ifunc;

__attribute__((visibility("protected"))) int first_protected(void) { return 5; }
int first_asks_protected(void) { return first_protected(); }

__attribute__((constructor)) static void begin(void) { printf("constructor of first, %d\n", *first_pointer); }
__attribute__((destructor)) static void end(void) { printf("destructor of first\n"); }

void first_tells(void) {
    Dl_info info;
    dladdr((void *)first_tells, &info);
    printf("first lies in %s\n", info.dli_fname);
    char *text = first_allocate(32);
    strcpy(text, first_names[2]);
    printf("%s %zu %zu\n", text, first_length(text), strlen(text));
    free(text);
    errno = ENOENT;
    printf("%d %s\n", first_tls, strerror(errno));
}
