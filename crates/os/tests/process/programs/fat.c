/* Touches as many MiB of memory as its argument says. */
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    size_t bytes = (argc > 1 ? strtoul(argv[1], 0, 10) : 1) << 20;
    char *memory = malloc(bytes);
    if (!memory) return 1;
    memset(memory, 1, bytes);
    return memory[bytes - 1] != 1;
}
