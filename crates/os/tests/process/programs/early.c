/* Makes the file that its first argument names, in a constructor. */
#include <fcntl.h>
#include <unistd.h>

__attribute__((constructor)) static void first(int count, char **arguments)
{
    if (count > 1) {
        close(open(arguments[1], O_CREAT | O_WRONLY, 0600));
    }
}

int main(void)
{
    return 0;
}
