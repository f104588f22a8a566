//! The C++ operators.
//!
//! Twenty forms of `new` and `delete` exist: for arrays, for aligned types, with and without exceptions, with and
//! without the size. A program may replace *some* of them, and the library's versions of the others must then call
//! the program's: `new[]` calls `new`, a sized `delete` the plain one. A preloaded heap that ends each form in its
//! own code hands blocks of the program's pool to the wrong `free`. Here each form jumps, through the dynamic
//! symbol table, to the form that the C++ standard names for it, and only the basic ones do work; those that can
//! fail are in `operators.cpp`.

use core::ffi::c_void;

unsafe extern "C" {
    /// `operator new(size_t)` on top of `malloc`.
    pub fn underhood_new(size: usize) -> *mut c_void;
    /// `operator new(size_t, align_val_t)` on top of `aligned_alloc`.
    pub fn underhood_new_aligned(size: usize, alignment: usize) -> *mut c_void;
    /// `operator new(size_t, nothrow_t const&)`.
    pub fn underhood_new_nothrow(size: usize) -> *mut c_void;
    /// `operator new[](size_t, nothrow_t const&)`.
    pub fn underhood_new_array_nothrow(size: usize) -> *mut c_void;
    /// `operator new(size_t, align_val_t, nothrow_t const&)`.
    pub fn underhood_new_aligned_nothrow(size: usize, alignment: usize) -> *mut c_void;
    /// `operator new[](size_t, align_val_t, nothrow_t const&)`.
    pub fn underhood_new_array_aligned_nothrow(size: usize, alignment: usize) -> *mut c_void;
}

/// Exports functions that jump to another symbol, with all arguments in their registers.
///
/// `local` jumps inside the library. `global` jumps to whatever the program resolves the symbol to.
#[macro_export]
macro_rules! export_jumps {
    (local { $($name:ident => $target:path;)* }) => {
        $(
            // SAFETY: the name is one of the replaceable functions, which a heap may define.
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            unsafe extern "C" fn $name() {
                #[cfg(target_arch = "x86_64")]
                core::arch::naked_asm!("jmp {target}", target = sym $target);
                #[cfg(target_arch = "aarch64")]
                core::arch::naked_asm!("b {target}", target = sym $target);
            }
        )*
    };
    (global { $($name:ident => $target:literal;)* }) => {
        $(
            // SAFETY: the name is one of the replaceable functions, which a heap may define.
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            unsafe extern "C" fn $name() {
                #[cfg(target_arch = "x86_64")]
                core::arch::naked_asm!(concat!("jmp qword ptr [rip + ", $target, "@GOTPCREL]"));
                #[cfg(target_arch = "aarch64")]
                core::arch::naked_asm!(
                    concat!("adrp x16, :got:", $target),
                    concat!("ldr x16, [x16, :got_lo12:", $target, "]"),
                    "br x16",
                );
            }
        )*
    };
}

/// Exports all replaceable `operator new` and `operator delete`, [new.delete] in the C++ standard.
///
/// Mangled names: `nw` new, `na` new[], `dl` delete, `da` delete[]; `m` a size, `Pv` a block,
/// `St11align_val_t` an alignment, `RKSt9nothrow_t` std::nothrow.
#[macro_export]
macro_rules! export_cxx {
    () => {
        $crate::export_jumps!(local {
            _Znwm => $crate::cxx::underhood_new;
            _ZnwmSt11align_val_t => $crate::cxx::underhood_new_aligned;
            _ZnwmRKSt9nothrow_t => $crate::cxx::underhood_new_nothrow;
            _ZnamRKSt9nothrow_t => $crate::cxx::underhood_new_array_nothrow;
            _ZnwmSt11align_val_tRKSt9nothrow_t => $crate::cxx::underhood_new_aligned_nothrow;
            _ZnamSt11align_val_tRKSt9nothrow_t => $crate::cxx::underhood_new_array_aligned_nothrow;
        });
        $crate::export_jumps!(global {
            _Znam => "_Znwm";
            _ZnamSt11align_val_t => "_ZnwmSt11align_val_t";
            _ZdlPv => "free";
            _ZdaPv => "_ZdlPv";
            _ZdlPvm => "_ZdlPv";
            _ZdaPvm => "_ZdaPv";
            _ZdlPvRKSt9nothrow_t => "_ZdlPv";
            _ZdaPvRKSt9nothrow_t => "_ZdaPv";
            _ZdlPvSt11align_val_t => "free";
            _ZdaPvSt11align_val_t => "_ZdlPvSt11align_val_t";
            _ZdlPvmSt11align_val_t => "_ZdlPvSt11align_val_t";
            _ZdaPvmSt11align_val_t => "_ZdaPvSt11align_val_t";
            _ZdlPvSt11align_val_tRKSt9nothrow_t => "_ZdlPvSt11align_val_t";
            _ZdaPvSt11align_val_tRKSt9nothrow_t => "_ZdaPvSt11align_val_t";
        });
    };
}
