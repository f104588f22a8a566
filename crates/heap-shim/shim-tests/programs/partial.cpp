// A program that replaces only the basic new and delete, with a pool of its own: every other form must reach it,
// and no block of the pool may reach free().
#include "check.h"
#include <cstdint>
#include <new>

namespace {
alignas(64) char pool[1 << 16];
std::size_t used = 0;
int taken = 0, given = 0;
bool ours(void *block) { return block >= pool && block < pool + sizeof pool; }
} // namespace

void *operator new(std::size_t size)
{
    void *const block = pool + used;
    used += (size + 63) / 64 * 64;
    taken++;
    return block;
}

void operator delete(void *block) noexcept
{
    CHECK(block == nullptr || ours(block));
    given++;
}

int main()
{
    struct Big {
        char bytes[100];
        ~Big() {}
    };
    delete new Big;
    delete[] new Big[4];
    ::operator delete(::operator new(8), std::size_t{8});
    ::operator delete[](::operator new[](8), std::size_t{8});
    ::operator delete[](::operator new[](8, std::nothrow), std::nothrow);
    ::operator delete(::operator new(8, std::nothrow), std::nothrow);
    CHECK(taken == 6 && given == 6);
    puts("ok");
}
