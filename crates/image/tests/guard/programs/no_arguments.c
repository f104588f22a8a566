// Executes a program without any argument, not even a name.
#include <unistd.h>

int main(int argc, char **argv) {
    char *none[] = {0};
    (void)argc;
    execve(argv[1], none, none);
    return 1;
}
