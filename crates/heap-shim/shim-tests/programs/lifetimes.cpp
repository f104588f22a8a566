// Allocation and release in every phase of a process: constructors, static objects, thread-local objects, thread
// keys, atexit handlers, destructors.
#include "check.h"
#include <cstring>
#include <memory>
#include <pthread.h>
#include <string>
#include <thread>
#include <vector>

namespace {

char *from_constructor = nullptr;

__attribute__((constructor(101))) void early()
{
    from_constructor = static_cast<char *>(std::malloc(100));
    std::strcpy(from_constructor, "constructed");
}

__attribute__((destructor(101))) void late()
{
    char *const block = static_cast<char *>(std::malloc(200));
    std::strcpy(block, "late");
    std::free(from_constructor);
    std::free(block);
}

struct Holder {
    std::vector<std::string> strings{std::vector<std::string>(100, std::string(100, 'h'))};
    ~Holder() { strings.push_back(std::string(1000, 'd')); }
};

Holder global;
thread_local Holder per_thread;
pthread_key_t key;

void release(void *block)
{
    static int rounds = 0;
    std::free(block);
    if (__atomic_add_fetch(&rounds, 1, __ATOMIC_RELAXED) < 20) {
        pthread_setspecific(key, std::malloc(50)); // again, after the heap may have closed this thread
    }
}

} // namespace

int main()
{
    CHECK(std::strcmp(from_constructor, "constructed") == 0);
    std::vector<pthread_key_t> keys(100); // more than the 32 that need no memory of their own
    for (auto &k : keys) {
        pthread_key_create(&k, nullptr);
    }
    pthread_key_create(&key, release);
    for (int round = 0; round < 8; round++) {
        std::vector<std::unique_ptr<std::string>> crossing(64);
        std::thread([&] {
            pthread_setspecific(key, std::malloc(10));
            per_thread.strings.push_back("x");
            for (auto &slot : crossing) {
                slot = std::make_unique<std::string>(500, 'c');
            }
        }).join();
        for (auto &slot : crossing) {
            CHECK(slot->size() == 500);
        }
    }
    per_thread.strings.clear();
    std::atexit([] { std::free(std::malloc(300)); });
    puts("ok");
}
