//! Compiles the C++ operators, which need `try` and `catch` and so cannot be Rust.

fn main() {
    println!("cargo:rerun-if-changed=src/operators.cpp");
    cc::Build::new()
        .cpp(true)
        // No C++ library behind a preloaded heap: it would come into every C program.
        .cpp_link_stdlib(None)
        .std("c++17")
        .flag("-fno-plt")
        .flag("-fno-rtti")
        .flag("-fvisibility=hidden")
        .file("src/operators.cpp")
        .compile("underhood_operators");
}
