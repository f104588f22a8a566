// A library in C++ that needs the first one; what it throws is caught in the program.
#include <stdexcept>
#include <string>
#include <typeinfo>

extern "C" int first_data;
extern "C" int first_asks_common(void);
extern "C" __thread int first_tls;

struct Base {
    virtual ~Base() = default;
    virtual std::string name() const { return "base"; }
};
struct Derived : Base {
    std::string name() const override { return "derived"; }
};
Base *make_derived() { return new Derived; }
const std::type_info &type_of(const Base &base) { return typeid(base); }

// One for the whole process (STB_GNU_UNIQUE).
template <typename T> struct Counted {
    static int &count() {
        static int value = 100;
        return ++value;
    }
};
int second_counts() { return Counted<int>::count(); }

void second_throws(int number) {
    if (number > 0)
        second_throws(number - 1);
    throw std::runtime_error("thrown by second, " + std::to_string(first_data + first_asks_common() + first_tls));
}
