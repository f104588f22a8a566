//! The jump table and its first call.
//!
//! The table's hot functions are separate entries, so that a call is one load and one jump. All others hang on a
//! second, constant table that each heap has, behind one more entry.
//!
//! Before the choice every entry leads to a function that chooses and then calls the entry again.

use core::ffi::CStr;
use core::ffi::c_int;
use core::ffi::c_void;
use core::marker::PhantomData;
use core::mem;
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::AtomicU8;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering;

use heap_jemalloc::Jemalloc;
use heap_mimalloc::Mimalloc;
use heap_mimalloc::fork_gate;
use heap_snmalloc::Snmalloc;
use heap_system::System;
use surface::Heap;
use surface::Hot;
use surface::Usage;
use surface::answers::Mallinfo2;

use crate::choice;
use crate::raw;

type Malloc = unsafe extern "C" fn(usize) -> *mut c_void;
type Realloc = unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void;
type Free = unsafe extern "C" fn(*mut c_void);

/// A function pointer that is replaced once. Relaxed loads: an entry leads to code, which needs no publishing.
struct Entry<Function> {
    address: AtomicPtr<c_void>,
    function: PhantomData<Function>,
}

impl<Function: Copy> Entry<Function> {
    /// `address` is that of a `Function`.
    const fn new(address: *mut c_void) -> Self {
        Self {
            address: AtomicPtr::new(address),
            function: PhantomData,
        }
    }

    fn get(&self) -> Function {
        const { assert!(size_of::<Function>() == size_of::<*mut c_void>()) };
        let address = self.address.load(Ordering::Relaxed);
        // SAFETY: `new` and `set` store the address of a function of this type only.
        unsafe { mem::transmute_copy(&address) }
    }

    fn set(&self, function: Function) {
        // SAFETY: a function pointer has the size of an address, as `get` asserts.
        self.address
            .store(unsafe { mem::transmute_copy(&function) }, Ordering::Relaxed);
    }
}

/// The functions of a heap that are called now and then.
struct Calm {
    memalign: unsafe fn(usize, usize) -> *mut c_void,
    usable_size: unsafe fn(*mut c_void) -> usize,
    trim: fn(usize) -> bool,
    usage: fn() -> Usage,
    mallinfo2: fn() -> Mallinfo2,
    malloc_stats: fn(),
    malloc_info: unsafe fn(c_int, *mut c_void) -> c_int,
    mallopt: fn(c_int, c_int) -> c_int,
}

const fn calm_of<H: Heap>() -> Calm {
    Calm {
        memalign: H::memalign,
        usable_size: H::usable_size,
        trim: H::trim,
        usage: H::usage,
        mallinfo2: H::mallinfo2,
        malloc_stats: H::malloc_stats,
        malloc_info: H::malloc_info,
        mallopt: H::mallopt,
    }
}

static UNDECIDED: Calm = calm_of::<Undecided>();
static SYSTEM: Calm = calm_of::<System>();
static MIMALLOC: Calm = calm_of::<Mimalloc>();
static JEMALLOC: Calm = calm_of::<Jemalloc>();
static SNMALLOC: Calm = calm_of::<Snmalloc>();

/// The length of the name that tools read, with the zero bytes at its end.
const NAME_LENGTH: usize = 16;

/// Alone on its pages, because they are locked: the alignment is the largest page size of the architecture, and the
/// size is a multiple of it.
#[cfg_attr(target_arch = "x86_64", repr(C, align(4096)))]
#[cfg_attr(target_arch = "aarch64", repr(C, align(65536)))]
struct Table {
    malloc: Entry<Malloc>,
    zalloc: Entry<Malloc>,
    realloc: Entry<Realloc>,
    free: Entry<Free>,
    calm: Entry<&'static Calm>,
    /// The name of the chosen heap; empty before the choice.
    name: [AtomicU8; NAME_LENGTH],
}

static TABLE: Table = Table {
    malloc: Entry::new(Undecided::HOT.malloc as *mut c_void),
    zalloc: Entry::new(Undecided::HOT.zalloc as *mut c_void),
    realloc: Entry::new(Undecided::HOT.realloc as *mut c_void),
    free: Entry::new(Undecided::HOT.free as *mut c_void),
    calm: Entry::new((&raw const UNDECIDED).cast_mut().cast()),
    name: [const { AtomicU8::new(0) }; NAME_LENGTH],
};

/// Exported so that tools can see what was chosen: the address of the table, in which the name of the chosen heap, a
/// C string, follows five pointers. The table itself is not exported: it would then be reached by a detour.
// SAFETY: nothing else has this name.
#[unsafe(no_mangle)]
static underhood_selector_table: &Table = &TABLE;

/// What the first call has done so far.
static STATE: AtomicU32 = AtomicU32::new(STATE_FRESH);
const STATE_FRESH: u32 = 0;
const STATE_CHOOSING: u32 = 1;
const STATE_CHOSEN: u32 = 2;

/// Chooses and fills the table, once; a second thread that comes meanwhile waits.
#[cold]
#[inline(never)]
fn decide() {
    let fresh = STATE.compare_exchange(STATE_FRESH, STATE_CHOOSING, Ordering::Acquire, Ordering::Acquire);
    if fresh.is_err() {
        while STATE.load(Ordering::Acquire) == STATE_CHOOSING {
            raw::wait_while(&STATE, STATE_CHOOSING);
        }
        return;
    }
    let heap = choice::choose();
    // Of the constructors that were left out, only mimalloc's does more than the first allocation does anyway.
    if heap == select_rules::Heap::Mimalloc {
        heap_mimalloc::start();
    } else {
        fork_gate::stand_aside();
    }
    match heap {
        select_rules::Heap::System => fill::<System>(&SYSTEM),
        select_rules::Heap::Mimalloc => fill::<Mimalloc>(&MIMALLOC),
        select_rules::Heap::Jemalloc => fill::<Jemalloc>(&JEMALLOC),
        select_rules::Heap::Snmalloc => fill::<Snmalloc>(&SNMALLOC),
    }
    STATE.store(STATE_CHOSEN, Ordering::Release);
    raw::wake_all(&STATE);
}

fn fill<H: Heap>(calm: &'static Calm) {
    TABLE.malloc.set(H::HOT.malloc);
    TABLE.zalloc.set(H::HOT.zalloc);
    TABLE.realloc.set(H::HOT.realloc);
    TABLE.free.set(H::HOT.free);
    TABLE.calm.set(calm);
    for (place, byte) in TABLE.name.iter().zip(H::NAME.to_bytes()) {
        place.store(*byte, Ordering::Relaxed);
    }
    let start = (&raw const TABLE).cast_mut().cast();
    // SAFETY: the table fills its pages, and `decide` runs this once: nothing writes to them again.
    unsafe { raw::make_read_only(start, size_of::<Table>()) };
}

unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
    // SAFETY: any size is legal.
    unsafe { TABLE.malloc.get()(size) }
}

unsafe extern "C" fn zalloc(size: usize) -> *mut c_void {
    // SAFETY: any size is legal.
    unsafe { TABLE.zalloc.get()(size) }
}

unsafe extern "C" fn realloc(block: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the caller's obligation.
    unsafe { TABLE.realloc.get()(block, size) }
}

unsafe extern "C" fn free(block: *mut c_void) {
    // SAFETY: the caller's obligation.
    unsafe { TABLE.free.get()(block) }
}

/// The heap behind the table.
pub struct Chosen;

impl Heap for Chosen {
    const NAME: &'static CStr = c"selector";

    const HOT: Hot = Hot {
        malloc,
        zalloc,
        realloc,
        free,
    };

    unsafe fn memalign(alignment: usize, size: usize) -> *mut c_void {
        // SAFETY: the caller's obligation.
        unsafe { (TABLE.calm.get().memalign)(alignment, size) }
    }

    unsafe fn usable_size(block: *mut c_void) -> usize {
        // SAFETY: the caller's obligation.
        unsafe { (TABLE.calm.get().usable_size)(block) }
    }

    fn trim(pad: usize) -> bool {
        (TABLE.calm.get().trim)(pad)
    }

    fn usage() -> Usage {
        (TABLE.calm.get().usage)()
    }

    fn mallinfo2() -> Mallinfo2 {
        (TABLE.calm.get().mallinfo2)()
    }

    fn malloc_stats() {
        (TABLE.calm.get().malloc_stats)();
    }

    unsafe fn malloc_info(options: c_int, stream: *mut c_void) -> c_int {
        // SAFETY: the caller's obligation.
        unsafe { (TABLE.calm.get().malloc_info)(options, stream) }
    }

    fn mallopt(parameter: c_int, value: c_int) -> c_int {
        (TABLE.calm.get().mallopt)(parameter, value)
    }
}

unsafe extern "C" fn decide_malloc(size: usize) -> *mut c_void {
    decide();
    // SAFETY: any size is legal.
    unsafe { malloc(size) }
}

unsafe extern "C" fn decide_zalloc(size: usize) -> *mut c_void {
    decide();
    // SAFETY: any size is legal.
    unsafe { zalloc(size) }
}

unsafe extern "C" fn decide_realloc(block: *mut c_void, size: usize) -> *mut c_void {
    decide();
    // SAFETY: the caller's obligation.
    unsafe { realloc(block, size) }
}

unsafe extern "C" fn decide_free(block: *mut c_void) {
    decide();
    // SAFETY: the caller's obligation.
    unsafe { free(block) }
}

/// The heap before the choice.
struct Undecided;

impl Heap for Undecided {
    const NAME: &'static CStr = c"";

    const HOT: Hot = Hot {
        malloc: decide_malloc,
        zalloc: decide_zalloc,
        realloc: decide_realloc,
        free: decide_free,
    };

    unsafe fn memalign(alignment: usize, size: usize) -> *mut c_void {
        decide();
        // SAFETY: the caller's obligation.
        unsafe { Chosen::memalign(alignment, size) }
    }

    unsafe fn usable_size(block: *mut c_void) -> usize {
        decide();
        // SAFETY: the caller's obligation.
        unsafe { Chosen::usable_size(block) }
    }

    fn trim(pad: usize) -> bool {
        decide();
        Chosen::trim(pad)
    }

    fn usage() -> Usage {
        decide();
        Chosen::usage()
    }

    fn mallinfo2() -> Mallinfo2 {
        decide();
        Chosen::mallinfo2()
    }

    fn malloc_stats() {
        decide();
        Chosen::malloc_stats();
    }

    unsafe fn malloc_info(options: c_int, stream: *mut c_void) -> c_int {
        decide();
        // SAFETY: the caller's obligation.
        unsafe { Chosen::malloc_info(options, stream) }
    }

    fn mallopt(parameter: c_int, value: c_int) -> c_int {
        decide();
        Chosen::mallopt(parameter, value)
    }
}
