//! The relocation tables of the copy.

use std::collections::{BTreeSet, HashMap};

use object::LittleEndian as LE;
use object::elf::{self, Rela64};
use object::pod;

use super::super::Image;
use super::super::relocations::{self, Kind, Relocation};
use super::draft::Draft;
use super::{Call, Fate, Immovable, ranges};

/// What is written where, and the tables that remain.
pub(super) struct Tables {
    /// Words of the file, by address of the original.
    words: Vec<(u64, u64)>,
    /// The table of relocations, in the copy's terms.
    relocations: Vec<Rela64<LE>>,
    /// So many of its first entries are relative.
    pub(super) relative: u64,
    /// The table of functions.
    functions: Vec<Rela64<LE>>,
    room: bool,
    /// The table of relocations has to go elsewhere, since it has grown.
    pub(super) spills: bool,
    applied: u64,
    bound: u64,
}

impl Tables {
    /// Whether there was room for a call.
    pub(super) const fn has_room(&self) -> bool {
        self.room
    }

    /// Bytes of the table of relocations.
    pub(super) const fn size(&self) -> u64 {
        (self.relocations.len() * ENTRY) as u64
    }

    /// Bytes of the table of functions.
    pub(super) const fn functions_size(&self) -> u64 {
        (self.functions.len() * ENTRY) as u64
    }

    /// The table of relocations as bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        pod::bytes_of_slice(&self.relocations)
    }

    /// Writes the words and the tables. Returns how many relocations were relative and applied, were bound, and remain.
    pub(super) fn apply(&self, image: &Image<'_>, draft: &mut Draft) -> Result<(u64, u64, u64), Immovable> {
        let parts = ranges::of(image, draft)?;
        for &(address, value) in &self.words {
            let (at, _) = draft.place(address, 8).ok_or(super::draft::OUTSIDE)?;
            if ranges::contain(&parts, at) {
                return Err(Immovable::Overlap);
            }
            draft.set_word(address, value)?;
        }
        let (first, functions) = (image.dynamic.relocations.0, image.dynamic.functions.0);
        let old = relocations::tables(image)?;
        let stays = if self.spills { &[][..] } else { &self.relocations };
        for (address, count, new) in [
            (first, old.0.len(), stays),
            (functions, old.1.len(), &self.functions),
        ] {
            let table = draft.table_at::<Rela64<LE>>(address, count)?;
            table.fill(entry(0, elf::R_X86_64_NONE, 0, 0));
            for (place, new) in table.iter_mut().zip(new) {
                *place = *new;
            }
        }
        // Packed ones are applied; what stood for them must not be taken for anything else.
        let (packed, size) = image.dynamic.packed;
        if size > 0 {
            let words = usize::try_from(size / 8).map_err(|_| super::draft::OUTSIDE)?;
            draft
                .table_at::<object::U64<LE>>(packed, words)?
                .fill(object::U64::new(LE, 0));
        }
        let kept = self.relocations.len() + self.functions.len();
        Ok((self.applied, self.bound, kept as u64))
    }
}

const ENTRY: usize = size_of::<Rela64<LE>>();

fn entry(offset: u64, kind: elf::RelocationType, symbol: u32, addend: i64) -> Rela64<LE> {
    Rela64 {
        r_offset: object::U64::new(LE, offset),
        r_info: Rela64::r_info(LE, false, symbol, kind),
        r_addend: object::I64::new(LE, addend),
    }
}

/// Whether the table of relocations may have no entry that goes, whose place another could take: the relative ones are packed.
pub(super) fn may_spill(image: &Image<'_>) -> Result<bool, Immovable> {
    let (entries, _) = relocations::tables(image)?;
    let is_relative =
        |entry: &Rela64<LE>| Relocation::of(image.machine(), entry, false).kind == Kind::Relative;
    Ok(image.dynamic.relocations.0 != 0 && !entries.iter().any(is_relative))
}

/// The most bytes that the table of relocations can have.
pub(super) fn most(image: &Image<'_>) -> Result<usize, Immovable> {
    let (entries, _) = relocations::tables(image)?;
    Ok((entries.len() + 1) * ENTRY)
}

/// Works out the tables of the copy. With `spills` the table of relocations may be longer than it was. Functions count as bound at start when the file wishes it.
pub(super) fn rewritten(
    image: &Image<'_>,
    draft: &Draft,
    fates: &HashMap<u64, Fate>,
    call: Option<Call>,
    spills: bool,
) -> Result<Tables, Immovable> {
    let mut seen = BTreeSet::new();
    let mut tables = Tables {
        words: Vec::new(),
        relocations: Vec::new(),
        relative: 0,
        functions: Vec::new(),
        room: false,
        spills,
        applied: 0,
        bound: 0,
    };
    for address in relocations::packed(image)? {
        once(&mut seen, address)?;
        let word = draft.word(address).ok_or(super::draft::OUTSIDE)?;
        tables.words.push((address, word.wrapping_add(draft.by)));
        tables.applied += 1;
    }
    let (entries, slots) = relocations::tables(image)?;
    let mut relative = Vec::new();
    let mut others = Vec::new();
    for (index, old) in (0_u64..).zip(entries) {
        let mut relocation = Relocation::of(image.machine(), old, false);
        if index < image.dynamic.relative {
            relocation.kind = Kind::Relative;
        }
        match tables.work(relocation, old, draft, fates, &mut seen)? {
            Some(new) if relocation.kind == Kind::Relative => relative.push(new),
            Some(new) => others.push(new),
            None => {}
        }
    }
    let mut functions = Vec::new();
    let mut all = Vec::new();
    let mut waiting = false;
    for old in slots {
        let relocation = Relocation::of(image.machine(), old, true);
        let kept = tables.work(relocation, old, draft, fates, &mut seen)?;
        waiting |= kept.is_some() && !matches!(relocation.kind, Kind::Irelative | Kind::Relative);
        functions.extend(kept);
        all.push(shifted(relocation, old, draft));
    }
    // A function that is bound late is found by its place in the table, so the places stay; to the entries that are
    // bound already the loader adds 0.
    if waiting && !image.dynamic.bind_now {
        functions = all;
    }
    tables.relative = relative.len() as u64;
    tables.relocations = relative;
    let count = tables.relocations.len() + others.len();
    let call = call.map(|call| {
        entry(
            call.answer,
            elf::R_X86_64_IRELATIVE,
            0,
            call.function.cast_signed(),
        )
    });
    // First of the functions that are called: others of the same file may rely on what this one writes.
    if count < entries.len() || spills {
        tables.room = true;
        tables.relocations.extend(call);
        tables.relocations.extend(others);
    } else {
        tables.relocations.extend(others);
        if functions.len() < slots.len() {
            tables.room = true;
            functions.splice(0..0, call);
        }
    }
    // Behind an empty table that begins where the functions' ends, the loader would take the functions for part of it.
    let behind = image
        .dynamic
        .functions
        .0
        .checked_add(functions.len() as u64 * ENTRY as u64);
    if tables.relocations.is_empty() && !entries.is_empty() && Some(image.dynamic.relocations.0) == behind {
        tables.relocations.push(entry(0, elf::R_X86_64_NONE, 0, 0));
    }
    tables.functions = functions;
    Ok(tables)
}

impl Tables {
    /// Applies a relocation, or returns what remains of it.
    fn work(
        &mut self,
        relocation: Relocation,
        old: &Rela64<LE>,
        draft: &Draft,
        fates: &HashMap<u64, Fate>,
        seen: &mut BTreeSet<u64>,
    ) -> Result<Option<Rela64<LE>>, Immovable> {
        let at = relocation.offset;
        if relocation.kind == Kind::None {
            return Ok(None);
        }
        // What is copied is as long as the variable, and stays with the loader.
        if relocation.kind != Kind::Copy {
            once(seen, at)?;
        }
        let there = draft.is_writable(at);
        // Among the functions, whose table may have to stay as it is, only functions are bound.
        let fate = fates
            .get(&at)
            .filter(|_| !relocation.function || relocation.kind == Kind::JumpSlot);
        let gone = match (relocation.kind, fate) {
            (Kind::Relative, _) if there => {
                self.applied += 1;
                Some(relocation.addend.cast_unsigned().wrapping_add(draft.by))
            }
            (Kind::GlobDat | Kind::JumpSlot | Kind::Absolute, Some(&Fate::Write(value))) if there => {
                self.bound += 1;
                Some(value)
            }
            (Kind::GlobDat | Kind::JumpSlot | Kind::Absolute, Some(Fate::Leave)) => {
                self.bound += 1;
                None
            }
            _ => {
                if relocation.kind == Kind::JumpSlot && there {
                    self.late(at, draft);
                }
                return Ok(Some(shifted(relocation, old, draft)));
            }
        };
        match gone {
            Some(value) => self.words.push((at, value)),
            None => self.late(at, draft),
        }
        Ok(None)
    }

    /// Until a function is bound its word leads back to the code that binds it, which has moved.
    fn late(&mut self, at: u64, draft: &Draft) {
        if let Some(word) = draft.word(at).filter(|&word| word != 0) {
            self.words.push((at, word.wrapping_add(draft.by)));
        }
    }
}

/// The same relocation in the copy's terms. Where no symbol is asked for, the number to be added is an address.
fn shifted(relocation: Relocation, old: &Rela64<LE>, draft: &Draft) -> Rela64<LE> {
    let addend = match relocation.kind {
        Kind::Relative | Kind::Irelative => relocation.addend.wrapping_add(draft.by.cast_signed()),
        _ => relocation.addend,
    };
    let mut new = *old;
    new.r_offset.set(LE, relocation.offset.wrapping_add(draft.by));
    new.r_addend.set(LE, addend);
    new
}

/// Each word is written by one relocation only, also in part.
fn once(seen: &mut BTreeSet<u64>, address: u64) -> Result<(), Immovable> {
    let near = address.saturating_sub(7)..=address.saturating_add(7);
    if seen.range(near).next().is_some() {
        return Err(Immovable::Twice(address));
    }
    seen.insert(address);
    Ok(())
}
