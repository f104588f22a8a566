//! `libunderhood_single_lock_spin.so`: the system heap behind one lock that spins before it sleeps.
#![no_std]

surface::export_heap!(heap_single_lock::SingleLock<heap_single_lock::CriticalSection<4000>>);
