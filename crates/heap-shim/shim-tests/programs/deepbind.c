/* Loads plugin.c with RTLD_DEEPBIND and calls one of its functions. */
#define _GNU_SOURCE
#include "check.h"
#include <dlfcn.h>

int main(int count, char **arguments)
{
    CHECK(count == 3);
    void *library = dlopen(arguments[1], RTLD_NOW | RTLD_DEEPBIND);
    CHECK(library != NULL);
    int (*function)(void) = (int (*)(void))dlsym(library, arguments[2]);
    CHECK(function != NULL && function());
    puts("ok");
    return 0;
}
