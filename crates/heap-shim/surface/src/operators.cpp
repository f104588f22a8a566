// The C++ operators that do the work; the other forms jump to these (see cxx.rs).
//
// The problem: C++ demands that a failing `new` calls the program's new-handler and throws std::bad_alloc, but a
// preloaded heap must not bring the C++ library into programs that are not C++. So everything of that library is
// referred to weakly, as data that may be absent: a program that can catch an exception has the library loaded.
//
// `malloc` and `free` are reached through the dynamic symbol table, like libstdc++ does: a program that defines its
// own `malloc` keeps getting it from its `new`.

#include <cstddef>
#include <cstdlib>
#include <new>

// What the compiler itself refers to for the `try` block below.
__asm__(".weak __gxx_personality_v0");
__asm__(".weak __cxa_begin_catch");
__asm__(".weak __cxa_end_catch");
__asm__(".weak _Unwind_Resume");

namespace std {
// Defined by libstdc++ and libc++ alike: throws std::bad_alloc.
__attribute__((weak, visibility("default"), noreturn)) void __throw_bad_alloc();
}

extern "C" {
__attribute__((weak, visibility("default"))) void *__cxa_begin_catch(void *) noexcept;
__attribute__((visibility("default"))) void *malloc(std::size_t);
__attribute__((visibility("default"))) void *aligned_alloc(std::size_t, std::size_t);
__attribute__((visibility("default"))) void *dlsym(void *, const char *);
}

namespace {

// One round after a failed allocation: the new-handler may free memory, throw, or end the program.
__attribute__((cold, noinline)) void make_room()
{
    // Not a weak reference: mimalloc carries a dummy of this function that the linker would bind it to.
    using Getter = std::new_handler (*)();
    void *const everywhere = nullptr; // RTLD_DEFAULT
    const auto get_new_handler = reinterpret_cast<Getter>(dlsym(everywhere, "_ZSt15get_new_handlerv"));
    const std::new_handler handler = get_new_handler ? get_new_handler() : nullptr;
    if (handler != nullptr) {
        handler();
    } else if (std::__throw_bad_alloc) {
        std::__throw_bad_alloc();
    } else {
        std::abort(); // No C++ library, so nobody could catch it.
    }
}

} // namespace

extern "C" void *underhood_new(std::size_t size)
{
    for (;;) {
        void *const block = malloc(size);
        if (__builtin_expect(block != nullptr, 1)) {
            return block;
        }
        make_room();
    }
}

extern "C" void *underhood_new_aligned(std::size_t size, std::size_t alignment)
{
    for (;;) {
        void *const block = aligned_alloc(alignment, size);
        if (__builtin_expect(block != nullptr, 1)) {
            return block;
        }
        make_room();
    }
}

// The forms that answer null call the ones that throw, which the program may have replaced (LWG issue 206).
// Without a C++ library there is no handler and nothing to catch, but also no exception: malloc alone is right.

extern "C" void *underhood_new_nothrow(std::size_t size) noexcept
{
    if (!__cxa_begin_catch) {
        return malloc(size);
    }
    try {
        return ::operator new(size);
    } catch (...) {
        return nullptr;
    }
}

extern "C" void *underhood_new_array_nothrow(std::size_t size) noexcept
{
    if (!__cxa_begin_catch) {
        return malloc(size);
    }
    try {
        return ::operator new[](size);
    } catch (...) {
        return nullptr;
    }
}

extern "C" void *underhood_new_aligned_nothrow(std::size_t size, std::size_t alignment) noexcept
{
    if (!__cxa_begin_catch) {
        return aligned_alloc(alignment, size);
    }
    try {
        return ::operator new(size, static_cast<std::align_val_t>(alignment));
    } catch (...) {
        return nullptr;
    }
}

extern "C" void *underhood_new_array_aligned_nothrow(std::size_t size, std::size_t alignment) noexcept
{
    if (!__cxa_begin_catch) {
        return aligned_alloc(alignment, size);
    }
    try {
        return ::operator new[](size, static_cast<std::align_val_t>(alignment));
    } catch (...) {
        return nullptr;
    }
}
