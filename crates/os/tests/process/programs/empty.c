/* A library with nothing in it. */
int underhood_test_library = 1;
