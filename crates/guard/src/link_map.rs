//! The loader's list of objects, by which floating objects are found and copies get their originals' names.
//!
//! Before it maps a library, the loader stores the address of its `struct r_debug` in the program's `DT_DEBUG` entry, for
//! debuggers. From there leads a list of `struct link_map`, one an object, whose first fields are the same since 1995
//! (`<link.h>`).
#![expect(unsafe_code, reason = "reads and changes structures of the loader")]

use core::ptr::{with_exposed_provenance, with_exposed_provenance_mut};
use core::sync::atomic::{AtomicU64, Ordering};

use crate::layout::{DEBUG, FLOATING, MOST_FLOATING, NAMES, ORIGINAL, RENAMED, hash};
use crate::plan::{Plan, damaged};
use crate::sys;
use crate::text::Text;

/// How many bytes of a link map are searched for the identity of its file, a private field. The structure is larger than
/// this in every glibc since 2.26.
const SEARCHED_BYTES: usize = 1024;

/// The public part of `struct link_map`.
#[repr(C)]
#[derive(Clone, Copy)]
struct LinkMap {
    address: u64,
    name: usize,
    dynamic: u64,
    next: usize,
}

/// The load addresses of the floating objects, once they were found.
static BASES: [AtomicU64; MOST_FLOATING] = [const { AtomicU64::new(0) }; MOST_FLOATING];

/// The load address of a floating object.
pub fn base(floating: usize) -> u64 {
    match BASES.get(floating) {
        Some(base) => base.load(Ordering::Relaxed),
        None => damaged(),
    }
}

/// Goes through the list: finds the floating objects, and renames copies.
pub fn visit(plan: Plan) {
    let debug = with_exposed_provenance::<usize>(plan.word(DEBUG) as usize);
    // SAFETY: the plan has the address of an entry of the dynamic table, which is mapped with the program.
    let list = with_exposed_provenance::<usize>(unsafe { debug.read() });
    let mut found = 0_u64;
    if !list.is_null() {
        // SAFETY: in `struct r_debug` a version, padded to a word, stands before the first link map.
        let mut next = unsafe { list.wrapping_add(1).read() };
        while next != 0 {
            // SAFETY: the loader keeps its list in order while it relocates.
            let map = unsafe { with_exposed_provenance::<LinkMap>(next).read() };
            let text = with_exposed_provenance::<u8>(map.name);
            if !text.is_null() {
                // SAFETY: every name is a text, and it stays: objects of the start are never unloaded.
                let name = unsafe { Text::new(text) };
                let name_hash = hash(name.bytes());
                found |= recognise(plan, &map, name, name_hash);
                rename(plan, next, name, name_hash);
            }
            next = map.next;
        }
    }
    for (number, [_, first, count]) in plan.table(FLOATING).iter().enumerate() {
        if found & (1 << number) == 0 {
            let [_, name] = plan.rows(NAMES, *first, *count).first().unwrap_or(&[0, 0]);
            lost(plan, plan.text(*name))
        }
    }
}

/// Keeps the address of the object if it is floating; returns the bit of its number then.
fn recognise(plan: Plan, map: &LinkMap, name: Text, name_hash: u64) -> u64 {
    for (number, [dynamic, first, count]) in plan.table(FLOATING).iter().enumerate() {
        if map.dynamic.wrapping_sub(map.address) != *dynamic {
            continue;
        }
        let is_name = |[hash, text]: &[u64; 2]| *hash == name_hash && plan.text(*text).is(name);
        if plan.rows(NAMES, *first, *count).iter().any(is_name)
            && let Some(base) = BASES.get(number)
        {
            base.store(map.address, Ordering::Relaxed);
            return 1 << number;
        }
    }
    0
}

/// If the object is a copy, gives it the path and the identity of its original: the program sees in `dladdr` and
/// `dl_iterate_phdr` what it would have seen, and `dlopen` of the original finds the copy.
fn rename(plan: Plan, map: usize, name: Text, name_hash: u64) {
    for [hash, copy, original, is @ .., device, inode] in plan.table(RENAMED) {
        if *hash != name_hash || !plan.text(*copy).is(name) {
            continue;
        }
        let field = with_exposed_provenance_mut::<LinkMap>(map);
        // SAFETY: the link map is the loader's, which calls us and does not look at it now.
        let field = unsafe { &raw mut (*field).name };
        // SAFETY: as above; the text in the plan stays as long as the process.
        unsafe { field.write(plan.text(*original).address()) };
        if *is != [0, 0] {
            change_identity(map, *is, [*device, *inode]);
        }
        return;
    }
}

/// Replaces device and inode, if they are found exactly once.
fn change_identity(map: usize, is: [u64; 2], becomes: [u64; 2]) {
    let words = with_exposed_provenance_mut::<[u64; 2]>(map);
    let mut found = None;
    for index in 0..SEARCHED_BYTES / 8 - 1 {
        let place = words.wrapping_byte_add(8 * index);
        // SAFETY: the place lies within the link map.
        if unsafe { place.read() } == is {
            if found.is_some() {
                return;
            }
            found = Some(place);
        }
    }
    if let Some(place) = found {
        // SAFETY: as above; these are the words of the field that holds the identity.
        unsafe { place.write(becomes) };
    }
}

/// Ends the process: with a wrong address it would run into the wild.
fn lost(plan: Plan, name: Text) -> ! {
    let program = plan.text(plan.word(ORIGINAL)).as_slice();
    sys::complain([
        b"underhood: the bound copy of ",
        program,
        b" cannot run: its library ",
        name.as_slice(),
        b" is not among those that were loaded; bind the program again\n",
    ]);
    sys::exit(127)
}
