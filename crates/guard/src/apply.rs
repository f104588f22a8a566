//! Writing addresses of floating objects into slots, when the loader comes to the object that has them.
//!
//! In each such object stands one `IRELATIVE` relocation whose function is one of our stubs. The loader calls it before
//! it makes the object's data read-only, and all objects are mapped by then. What it returns goes to a scratch word.
#![expect(unsafe_code, reason = "writes to the slots, calls resolvers")]

use core::ptr::{with_exposed_provenance, with_exposed_provenance_mut};
use core::sync::atomic::{AtomicBool, Ordering};

use crate::arch;
use crate::layout::{FILLS, IFUNC_BIT, OBJECTS, SLOT_BITS, STUBS};
use crate::link_map;
use crate::plan::{Plan, damaged};

static VISITED: AtomicBool = AtomicBool::new(false);

/// Whether an object has its fills. A second time its slots may be read-only.
static APPLIED: [AtomicBool; STUBS] = [const { AtomicBool::new(false) }; STUBS];

/// Applies the fills of an object. Called by the loader, through a stub; there is one thread only at that time.
///
/// Nothing of the C library may be used here: it need not be relocated yet.
pub extern "C" fn apply(number: u32) -> u64 {
    let plan = Plan::find();
    let object = plan.table(OBJECTS).get(number as usize);
    let (Some([first, count]), Some(applied)) = (object, APPLIED.get(number as usize)) else {
        damaged()
    };
    if !applied.swap(true, Ordering::Relaxed) {
        if !VISITED.swap(true, Ordering::Relaxed) {
            link_map::visit(plan);
            arch::notice();
        }
        plan.rows(FILLS, *first, *count).iter().for_each(fill);
    }
    0
}

fn fill([target, offset]: &[u64; 2]) {
    let slot = *target & ((1 << SLOT_BITS) - 1);
    let floating = (*target >> SLOT_BITS) & ((1 << (IFUNC_BIT - SLOT_BITS)) - 1);
    let address = link_map::base(floating as usize).wrapping_add(*offset);
    let value = if *target >> IFUNC_BIT == 0 {
        address
    } else {
        resolve(address)
    };
    let slot = with_exposed_provenance_mut::<u64>(slot as usize);
    // SAFETY: the plan has slots of the object that the loader is relocating, whose data it keeps writable for that.
    unsafe { slot.write_unaligned(value) };
}

/// Asks the resolver of a function which of its variants is right for this processor.
fn resolve(resolver: u64) -> u64 {
    let code = with_exposed_provenance::<()>(resolver as usize);
    // SAFETY: the plan says that the symbol at this address is such a resolver (STT_GNU_IFUNC); on x86-64 they take nothing.
    let resolver = unsafe { core::mem::transmute::<*const (), extern "C" fn() -> u64>(code) };
    resolver()
}
