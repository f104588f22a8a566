//! The exported C symbols.

/// Exports the whole surface for a heap: the body of a shim's crate.
///
/// Besides the functions it exports the data symbol `underhood_heap_name`, the heap's name as a C string, by which
/// tools recognise the library in a process.
#[macro_export]
macro_rules! export_heap {
    ($heap:ty) => {
        mod exported {
            use core::ffi::c_char;
            use core::ffi::c_int;
            use core::ffi::c_void;

            use $crate::Heap;
            use $crate::answers::Mallinfo;
            use $crate::answers::Mallinfo2;
            use $crate::entry;

            type Chosen = $heap;

            const NAME_BYTES: usize = 32;

            const fn padded_name() -> [u8; NAME_BYTES] {
                let name = <Chosen as Heap>::NAME.to_bytes();
                let mut padded = [0; NAME_BYTES];
                let mut at = 0;
                while at < name.len() {
                    padded[at] = name[at];
                    at += 1;
                }
                padded
            }

            // SAFETY: nothing else has this name.
            #[unsafe(no_mangle)]
            static underhood_heap_name: [u8; NAME_BYTES] = padded_name();

            $crate::export_functions! {
                malloc(size: usize) -> *mut c_void = Chosen::HOT.malloc;
                free(block: *mut c_void) -> () = Chosen::HOT.free;
                cfree(block: *mut c_void) -> () = Chosen::HOT.free;
                calloc(count: usize, size: usize) -> *mut c_void = entry::calloc::<Chosen>;
                realloc(block: *mut c_void, size: usize) -> *mut c_void = entry::realloc::<Chosen>;
                reallocarray(block: *mut c_void, count: usize, size: usize) -> *mut c_void
                    = entry::reallocarray::<Chosen>;
                posix_memalign(place: *mut *mut c_void, alignment: usize, size: usize) -> c_int
                    = entry::posix_memalign::<Chosen>;
                aligned_alloc(alignment: usize, size: usize) -> *mut c_void = entry::aligned_alloc::<Chosen>;
                memalign(alignment: usize, size: usize) -> *mut c_void = entry::memalign::<Chosen>;
                valloc(size: usize) -> *mut c_void = entry::valloc::<Chosen>;
                pvalloc(size: usize) -> *mut c_void = entry::pvalloc::<Chosen>;
                malloc_usable_size(block: *mut c_void) -> usize = entry::usable_size::<Chosen>;
                malloc_info(options: c_int, stream: *mut c_void) -> c_int = Chosen::malloc_info;
            }

            // SAFETY: the surface of malloc, which a heap may define.
            #[unsafe(no_mangle)]
            extern "C" fn malloc_trim(pad: usize) -> c_int {
                c_int::from(Chosen::trim(pad))
            }

            // SAFETY: the surface of malloc, which a heap may define.
            #[unsafe(no_mangle)]
            extern "C" fn mallinfo() -> Mallinfo {
                Chosen::mallinfo2().into()
            }

            // SAFETY: the surface of malloc, which a heap may define.
            #[unsafe(no_mangle)]
            extern "C" fn mallinfo2() -> Mallinfo2 {
                Chosen::mallinfo2()
            }

            // SAFETY: the surface of malloc, which a heap may define.
            #[unsafe(no_mangle)]
            extern "C" fn malloc_stats() {
                Chosen::malloc_stats();
            }

            // SAFETY: the surface of malloc, which a heap may define.
            #[unsafe(no_mangle)]
            extern "C" fn mallopt(parameter: c_int, value: c_int) -> c_int {
                Chosen::mallopt(parameter, value)
            }

            $crate::export_cxx!();
        }

        /// Without the standard library a panic has nobody to report to; the heaps have none on purpose. (A linter
        /// that looks at the crate as a test finds the standard library's handler there.)
        #[cfg(not(test))]
        #[panic_handler]
        fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
            unsafe extern "C" {
                safe fn abort() -> !;
            }
            abort()
        }
    };
}

/// Exports the names by which glibc's own functions can be called directly.
///
/// A program that calls `__libc_malloc` gives the block to `free`, and the loader of glibc before 2.31 takes memory
/// from `__libc_memalign`. Both go wrong when only the plain names are replaced. A shim that itself forwards to the
/// C library's heap by these names cannot export them.
#[macro_export]
macro_rules! export_libc_names {
    ($heap:ty) => {
        mod exported_libc_names {
            use core::ffi::c_void;

            use $crate::Heap;
            use $crate::entry;

            type Chosen = $heap;

            $crate::export_functions! {
                __libc_malloc(size: usize) -> *mut c_void = Chosen::HOT.malloc;
                __libc_free(block: *mut c_void) -> () = Chosen::HOT.free;
                __libc_calloc(count: usize, size: usize) -> *mut c_void = entry::calloc::<Chosen>;
                __libc_realloc(block: *mut c_void, size: usize) -> *mut c_void = entry::realloc::<Chosen>;
                __libc_memalign(alignment: usize, size: usize) -> *mut c_void = entry::memalign::<Chosen>;
                __libc_valloc(size: usize) -> *mut c_void = entry::valloc::<Chosen>;
                __libc_pvalloc(size: usize) -> *mut c_void = entry::pvalloc::<Chosen>;
            }
        }
    };
}

/// Exports C functions that have the contract of the Rust function behind them.
#[macro_export]
macro_rules! export_functions {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty = $function:expr;)*) => {
        $(
            // SAFETY: the surface of malloc, which a heap may define.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($argument: $type),*) -> $result {
                // SAFETY: the C caller's obligation is the one that the Rust function states.
                unsafe { ($function)($($argument),*) }
            }
        )*
    };
}
