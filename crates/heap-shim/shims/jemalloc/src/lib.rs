//! `libunderhood_jemalloc.so`: preload it, and the program's heap is jemalloc.
#![no_std]

surface::export_heap!(heap_jemalloc::Jemalloc);
surface::export_libc_names!(heap_jemalloc::Jemalloc);
