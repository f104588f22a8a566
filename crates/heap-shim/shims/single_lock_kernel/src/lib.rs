//! `libunderhood_single_lock_kernel.so`: the system heap behind one lock of the kernel.
#![no_std]

surface::export_heap!(heap_single_lock::SingleLock<heap_single_lock::KernelMutex>);
