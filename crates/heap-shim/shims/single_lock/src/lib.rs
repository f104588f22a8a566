//! `libunderhood_single_lock.so`: the system heap behind one lock that sleeps at once when it is taken.
#![no_std]

surface::export_heap!(heap_single_lock::SingleLock<heap_single_lock::CriticalSection<0>>);
