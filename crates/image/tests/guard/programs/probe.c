// Prints everything that a program can see of how it was started. The first line tells which file runs; the others must be
// the same with and without a guard. With OUT in the environment it writes to that file.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static int object(struct dl_phdr_info *info, size_t size, void *out) {
    (void)size;
    // The loader is in the list under the name by which the program asks for it: its interpreter.
    if (info->dlpi_addr == getauxval(AT_BASE)) {
        return 0;
    }
    fprintf(out, "object %s\n", strchr(info->dlpi_name, '/') ? strrchr(info->dlpi_name, '/') : info->dlpi_name);
    return 0;
}

static unsigned long loader_begin(void) {
    char line[4096];
    unsigned long begin = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (!begin && fgets(line, sizeof line, maps)) {
        if (strstr(line, "/ld-linux")) {
            begin = strtoul(line, NULL, 16);
        }
    }
    fclose(maps);
    return begin;
}

static void descriptors(FILE *out) {
    DIR *folder = opendir("/proc/self/fd");
    struct dirent *entry;
    while ((entry = readdir(folder))) {
        if (entry->d_name[0] != '.') {
            fprintf(out, "descriptor %s\n", entry->d_name);
        }
    }
    closedir(folder);
}

int main(int argc, char **argv, char **envp) {
    char self[4096] = "";
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) {
        return 1;
    }
    FILE *out = getenv("OUT") ? fopen(getenv("OUT"), "w") : stdout;
    fprintf(out, "exe %s\n", strrchr(self, '/') + 1);
    fprintf(out, "argc %d\n", argc);
    for (int i = 0; i <= argc; i++) {
        fprintf(out, "argument %s\n", argv[i] ? argv[i] : "(null)");
    }
    for (char **variable = envp; *variable; variable++) {
        fprintf(out, "variable %s\n", *variable);
    }
    fprintf(out, "execfn %s\n", (char *)getauxval(AT_EXECFN));
    fprintf(out, "name %s\n", program_invocation_name);
    fprintf(out, "loader at AT_BASE %d\n", getauxval(AT_BASE) == loader_begin());
    fprintf(out, "headers %#lx of %lu\n", getauxval(AT_PHDR), getauxval(AT_PHNUM));
    fprintf(out, "stack aligned %d\n", (unsigned long)__builtin_frame_address(0) % 16 == 0);
    dl_iterate_phdr(object, out);
    descriptors(out);
    char *block = malloc(1 << 20);
    memset(block, 1, 1 << 20);
    free(block);
    fprintf(out, "end\n");
    return fclose(out);
}
