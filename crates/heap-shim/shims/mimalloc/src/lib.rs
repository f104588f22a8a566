//! `libunderhood_mimalloc.so`: preload it, and the program's heap is mimalloc.
#![no_std]

surface::export_heap!(heap_mimalloc::Mimalloc);
surface::export_libc_names!(heap_mimalloc::Mimalloc);
