//! `libunderhood_snmalloc.so`: preload it, and the program's heap is snmalloc.
#![no_std]

surface::export_heap!(heap_snmalloc::Snmalloc);
surface::export_libc_names!(heap_snmalloc::Snmalloc);
