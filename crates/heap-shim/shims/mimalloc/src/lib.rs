//! `libunderhood_mimalloc.so`: preload it, and the program's heap is mimalloc.
#![no_std]

surface::export_heap!(
    heap_mimalloc::Mimalloc,
    malloc = heap_mimalloc::raw::malloc,
    free = heap_mimalloc::raw::free
);
surface::export_libc_names!(heap_mimalloc::Mimalloc);
