/* Times LoadLibrary of its first argument, which must need nothing that is loaded already, and prints nanoseconds. */
#include <stdio.h>
#include <windows.h>

int main(int argc, char **argv) {
    LARGE_INTEGER begin, end, rate;
    if (argc < 2)
        return 2;
    QueryPerformanceFrequency(&rate);
    QueryPerformanceCounter(&begin);
    HMODULE library = LoadLibraryA(argv[1]);
    QueryPerformanceCounter(&end);
    if (!library)
        return 1;
    printf("%.0f\n", (double)(end.QuadPart - begin.QuadPart) * 1e9 / (double)rate.QuadPart);
    return 0;
}
