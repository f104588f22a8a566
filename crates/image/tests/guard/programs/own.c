// Counts how often it was called, so that a second copy of this library in one process is noticed.
int own_count(void) {
    static int count;
    return ++count;
}
