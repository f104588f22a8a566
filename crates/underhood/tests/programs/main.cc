// Prints all that a program can notice of how it was loaded.
#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <typeinfo>
#include <vector>

extern "C" {
extern int first_data;
extern int *first_pointer;
extern __thread int first_tls;
extern int (*first_ifunc_pointer)(void);
int first_has_nobody(void);
int first_asks_common(void);
int first_asks_protected(void);
int first_ifunc(void);
void first_tells(void);
int first_common(void) { return 2; }
}

struct Base {
    virtual ~Base() = default;
    virtual std::string name() const { return "base"; }
};
Base *make_derived();
const std::type_info &type_of(const Base &base);
int second_counts();
void second_throws(int number);
template <typename T> struct Counted {
    static int &count() {
        static int value = 100;
        return ++value;
    }
};

static int list(dl_phdr_info *info, size_t, void *names) {
    static_cast<std::vector<std::string> *>(names)->push_back(info->dlpi_name);
    return 0;
}

int main(int argc, char **argv) {
    std::setvbuf(stdout, nullptr, _IONBF, 0);
    for (int i = 0; i < argc; ++i)
        std::printf("argument %s\n", argv[i]);
    std::printf("started as %s\n", reinterpret_cast<const char *>(getauxval(AT_EXECFN)));
    first_data = 43;
    std::printf("%d %d %d\n", first_data, *first_pointer, first_pointer == &first_data);
    std::printf("%d %d %d\n", first_has_nobody(), first_asks_common(), first_asks_protected());
    std::printf("%d %d %d\n", first_ifunc(), first_ifunc_pointer(), first_ifunc_pointer == first_ifunc);
    first_tells();
    std::thread([] { std::printf("%d in a thread\n", ++first_tls); }).join();
    std::printf("%d\n", first_tls);
    Base *derived = make_derived();
    std::printf("%s %d\n", derived->name().c_str(), type_of(*derived) == typeid(*derived));
    delete derived;
    std::printf("%d %d\n", Counted<int>::count(), second_counts());
    try {
        second_throws(3);
    } catch (const std::runtime_error &error) {
        std::printf("caught: %s\n", error.what());
    }
    std::printf("%.6f\n", std::sin(std::atof("1")));

    // The same library under its name, its path, and a link to it is the one that is loaded already.
    for (int i = 1; i < argc; ++i) {
        void *again = dlopen(argv[i], RTLD_NOW);
        if (!again)
            std::printf("%s\n", dlerror());
        else
            std::printf("%s is %s\n", argv[i], dlsym(again, "first_data") == dlsym(RTLD_DEFAULT, "first_data") ? "the same" : "another");
    }
    std::vector<std::string> names;
    dl_iterate_phdr(list, &names);
    for (const auto &name : names)
        if (name.find("vdso") == std::string::npos)
            std::printf("loaded %s\n", name.c_str());
    return 3;
}
