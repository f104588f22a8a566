// Calls plain and ifunc'ed functions of libc and libm through slots of its own, and a library of the test's. Prints what a
// program can find out about that library. Arguments: the path of the library, and of a link to it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int own_count(void);

static int object(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    (void)data;
    printf("object %s\n", info->dlpi_name);
    return 0;
}

int main(int argc, char **argv) {
    volatile double two = 2;
    char text[64];
    memset(text, 'x', 20);
    text[20] = 0;
    printf("%d %zu %.12f %.12f %d\n", argc, strlen(text), sin(two), cbrt(two), own_count());
    Dl_info info;
    dladdr((void *)own_count, &info);
    printf("dladdr %s\n", info.dli_fname);
    dl_iterate_phdr(object, NULL);
    void *loaded = dlopen("libown.so", RTLD_NOW | RTLD_NOLOAD);
    for (int i = 1; i < argc; i++) {
        void *again = dlopen(argv[i], RTLD_NOW);
        printf("dlopen %d", again == loaded);
        int (*count)(void) = (int (*)(void))dlsym(again, "own_count");
        printf(" %d\n", count());
    }
    void *loader = dlopen("/lib64/ld-linux-x86-64.so.2", RTLD_NOW | RTLD_NOLOAD);
    printf("loader %d\n", loader != NULL);
    return 0;
}
