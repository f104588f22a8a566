/* Touches as many MiB as its argument says. */
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    size_t size = (argc > 1 ? strtoull(argv[1], 0, 10) : 1) << 20;
    char *volatile block = malloc(size);
    if (!block)
        return 1;
    memset(block, 1, size);
    return block[size / 2] != 1;
}
