//! From a template and a plan to an interpreter at fixed addresses.
//!
//! The template is position independent and has no relocation, so it is moved by adding the base to the addresses in its
//! headers. The plan becomes a part of its data, the last segment. A filled guard is `ET_EXEC`: the kernel maps it exactly
//! there, or refuses to start the program.
//!
//! ```text
//! template, up to the end of its data    addresses from the base on
//! zeros for its .bss                     in the file, since something follows
//! plan                                   the last part of the data
//! section headers                        one symbol, for debuggers
//! program headers                        at the very end: of a file that was cut the kernel cannot read them, and the
//!                                        start fails before the program is replaced
//! ```

use object::LittleEndian as LE;
use object::elf::{self, SectionHeader64};
use object::pod::{bytes_of, bytes_of_mut};

use super::encode::encode;
use super::layout::{CELL_PLAN, NOTICE_AFTER_ENTRY, STUB_BYTES, STUBS};
use super::template::Template;
use super::{PAGE, Plan, Unfillable, sections};

/// Programs live below this address on x86-64.
const END_OF_ADDRESSES: u64 = 1 << 47;

/// What of a guard is known before its plan is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// The address of a word that nobody reads, for what `IRELATIVE` relocations write.
    pub scratch: u64,
    /// The address of the first stub.
    pub(super) first_stub: u64,
}

impl Places {
    /// The address of the stub of an object: of its index in [`Plan::fills`]. None when there are not so many.
    #[must_use]
    pub const fn stub(&self, object: usize) -> Option<u64> {
        if object < STUBS {
            Some(self.first_stub + (object * STUB_BYTES) as u64)
        } else {
            None
        }
    }
}

/// A finished guard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filled {
    /// The file.
    pub bytes: Vec<u8>,
    /// The address of the stub of each object in the plan.
    pub stubs: Vec<u64>,
    /// As in [`Places`].
    pub scratch: u64,
    /// The end of its addresses, on a page. It depends on the number and the length of what is in the plan, not on identities and
    /// not on addresses, so that it is known before the copies are written that are to be identified.
    pub end: u64,
}

/// The addresses of a guard at `base`.
///
/// # Errors
/// Those of [`fill`].
pub fn places(template: &[u8], base: u64) -> Result<Places, Unfillable> {
    let template = Template::read(template)?;
    check_base(base, template.data_end())?;
    Ok(template.places(base))
}

/// Makes the guard at `base` that does what the plan says.
///
/// # Errors
/// A template that is damaged, an address where it cannot be, a plan that contradicts itself or is too large.
pub fn fill(template: &[u8], base: u64, plan: &Plan) -> Result<Filled, Unfillable> {
    let template = Template::read(template)?;
    let encoded = encode(plan)?;
    let plan_at = template
        .data_end()
        .checked_next_multiple_of(64)
        .ok_or(Unfillable::Base(base))?;
    let end = check_base(base, plan_at.saturating_add(encoded.len() as u64))?;
    let places = template.places(base);

    let mut bytes = template.content.to_vec();
    let data_offset = template.data().p_offset.get(LE);
    let data_begin = template.data().p_vaddr.get(LE);
    // What lies in between is .bss, which is small: the template was read with that in mind.
    bytes.resize((data_offset + plan_at - data_begin) as usize, 0);
    bytes.extend_from_slice(&encoded);
    let headers = template.moved_segments(base, plan_at + encoded.len() as u64);
    let notice = base + template.header.e_entry.get(LE) + NOTICE_AFTER_ENTRY as u64;
    let (sections, count) = sections::of(bytes.len() as u64, notice, template.offset_of_notice());
    let sections_at = bytes.len() as u64;
    bytes.extend_from_slice(&sections);
    // The headers must stay the last, so that a file that was cut has none.
    let headers_at = bytes.len() as u64;
    headers
        .iter()
        .for_each(|segment| bytes.extend_from_slice(bytes_of(segment)));

    let mut header = *template.header;
    header.e_type.set(LE, elf::ET_EXEC);
    header.e_entry.set(LE, base + header.e_entry.get(LE));
    header.e_phoff.set(LE, headers_at);
    header.e_phnum.set(LE, headers.len() as u16);
    header.e_shoff.set(LE, sections_at);
    header.e_shnum.set(LE, count);
    header
        .e_shentsize
        .set(LE, size_of::<SectionHeader64<LE>>() as u16);
    header.e_shstrndx.set(LE, elf::SymbolSection(count - 1));
    write(&mut bytes, 0, bytes_of_mut(&mut header));
    write(
        &mut bytes,
        template.cell + CELL_PLAN,
        &(base + plan_at).to_le_bytes(),
    );
    Ok(Filled {
        bytes,
        stubs: (0..plan.fills.len())
            .filter_map(|object| places.stub(object))
            .collect(),
        scratch: places.scratch,
        end,
    })
}

/// The end of the addresses of a guard of so many bytes, on a page.
fn check_base(base: u64, size: u64) -> Result<u64, Unfillable> {
    let end = base
        .checked_add(size)
        .and_then(|end| end.checked_next_multiple_of(PAGE))
        .filter(|&end| end <= END_OF_ADDRESSES);
    match end {
        Some(end) if base > 0 && base.is_multiple_of(PAGE) => Ok(end),
        _ => Err(Unfillable::Base(base)),
    }
}

fn write(bytes: &mut [u8], at: usize, content: &[u8]) {
    // The template was found to be long enough for both places.
    bytes[at..at + content.len()].copy_from_slice(content);
}
