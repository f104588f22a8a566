/* Runs behind wrapper.c: true when the wrapper saw the calls and the heap served them. */
#define _GNU_SOURCE
#include "check.h"
#include <dlfcn.h>
#include <string.h>

int main(void)
{
    int *calls = dlsym(RTLD_DEFAULT, "wrapper_calls");
    CHECK(calls != NULL);
    const int before = *calls;
    for (int i = 0; i < 1000; i++) {
        char *p = malloc((size_t)i), *q = calloc((size_t)i, 3);
        CHECK(p && q);
        free(p), free(q);
    }
    CHECK(*calls >= before + 2000);
    CHECK(dlsym(RTLD_DEFAULT, "no such symbol") == NULL && dlerror() != NULL);
    puts("ok");
    return 0;
}
