// Every form of new and delete; failing ones call the handler and throw.
#include "check.h"
#include <cstdint>
#include <limits>
#include <new>
#include <string>
#include <vector>

namespace {

int handled = 0;

void handler_that_gives_up()
{
    if (++handled == 3) {
        std::set_new_handler(nullptr);
    }
}

void handler_that_throws() { throw std::bad_alloc(); }

struct alignas(128) Wide {
    char bytes[128];
};

volatile std::size_t impossible = std::numeric_limits<std::size_t>::max() / 2;

} // namespace

int main()
{
    const std::align_val_t wide{256};
    ::operator delete(::operator new(10));
    ::operator delete(::operator new(10), std::size_t{10});
    ::operator delete(::operator new(10, std::nothrow), std::nothrow);
    ::operator delete[](::operator new[](10));
    ::operator delete[](::operator new[](10), std::size_t{10});
    ::operator delete[](::operator new[](10, std::nothrow), std::nothrow);
    ::operator delete(::operator new(10, wide), wide);
    ::operator delete(::operator new(10, wide), std::size_t{10}, wide);
    ::operator delete(::operator new(10, wide, std::nothrow), wide, std::nothrow);
    ::operator delete[](::operator new[](10, wide), wide);
    ::operator delete[](::operator new[](10, wide), std::size_t{10}, wide);
    ::operator delete[](::operator new[](10, wide, std::nothrow), wide, std::nothrow);
    ::operator delete(nullptr);

    Wide *const wides = new Wide[3];
    CHECK(reinterpret_cast<std::uintptr_t>(wides) % 128 == 0);
    delete[] wides;
    void *const aligned = ::operator new(1, wide);
    CHECK(reinterpret_cast<std::uintptr_t>(aligned) % 256 == 0);
    ::operator delete(aligned, wide);
    CHECK(::operator new(0) != nullptr);

    bool thrown = false;
    try {
        (void)::operator new(impossible);
    } catch (const std::bad_alloc &) {
        thrown = true;
    }
    CHECK(thrown);

    std::set_new_handler(handler_that_gives_up);
    thrown = false;
    try {
        (void)::operator new[](impossible);
    } catch (const std::bad_alloc &) {
        thrown = true;
    }
    CHECK(thrown && handled == 3);

    CHECK(::operator new(impossible, std::nothrow) == nullptr);
    CHECK(::operator new[](impossible, wide, std::nothrow) == nullptr);
    std::set_new_handler(handler_that_throws);
    CHECK(::operator new(impossible, std::nothrow) == nullptr);
    CHECK(::operator new[](impossible, std::nothrow) == nullptr);
    thrown = false;
    try {
        (void)::operator new(impossible, wide);
    } catch (const std::bad_alloc &) {
        thrown = true;
    }
    CHECK(thrown);

    std::vector<std::string> strings;
    for (int i = 0; i < 1000; i++) {
        strings.push_back(std::string(static_cast<std::size_t>(i), 'x'));
    }
    puts("ok");
}
