//! Relocations of a file and of its moved copy: each is either still there, moved, or was applied.
//!
//! The file's own psABI rule is applied again, by the original: a relative relocation writes the sum of the load address and its addend
//! (a packed one: of what stands in its place). For a copy that is loaded where it was linked to, that is the addend, moved.

use std::collections::HashMap;

use super::super::relocations::{self, Kind, Relocation};
use super::super::{Image, Unreadable};
use super::areas::{self, Slot};
use super::files::Bound;
use super::tables::Tables;
use super::{Difference, Value, What, kind_name};

/// What became of the relocations.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Relocations of symbols that are gone, or whose word is known already.
    pub bound: Vec<Bound>,
    /// Relocations that only the copy has.
    pub added: Vec<Relocation>,
    /// Relative ones that were applied.
    pub applied: u64,
    /// Those that are still there.
    pub kept: u64,
}

impl Tables<'_, '_> {
    /// Compares the relocations, and the words in the places that they write to.
    pub fn relocations(&mut self, slots: &[Slot]) -> Result<Outcome, Unreadable> {
        let mut outcome = Outcome::default();
        let mut left = HashMap::<u64, Vec<(Relocation, bool)>>::new();
        for address in relocations::packed(self.copy)? {
            let relocation = Relocation {
                offset: address,
                kind: Kind::Relative,
                symbol: 0,
                addend: 0,
                function: false,
            };
            left.entry(address).or_default().push((relocation, true));
        }
        for relocation in relocations::unpacked(self.copy)? {
            if relocation.kind != Kind::None {
                left.entry(relocation.offset)
                    .or_default()
                    .push((relocation, false));
            }
        }
        self.leading(self.copy)?;
        let span = areas::origin(self.original)..areas::end(self.original);
        for slot in slots {
            let twin = left.get_mut(&self.moved(slot.address)).and_then(Vec::pop);
            let original = areas::word(self.original, slot.address);
            let copy = areas::word(self.copy, self.moved(slot.address));
            self.report.word(kind_name(slot.kind));
            let bound = |slot: &Slot| Bound {
                offset: slot.address.wrapping_sub(span.start),
                kind: slot.kind,
                symbol: slot.symbol,
                addend: slot.addend,
                original,
                value: copy,
            };
            if let Some((twin, packed)) = twin {
                outcome.kept += 1;
                self.kept(slot, &twin, packed);
                // What stands in the place means something where it is packed or a function's: then it is an address.
                let moves = slot.packed
                    || (original.is_some_and(|word| word != 0 && span.contains(&word)) && original != copy)
                    || (slot.kind == Kind::JumpSlot && original.is_some_and(|word| word != 0));
                let expected = original.map(|word| if moves { self.moved(word) } else { word });
                // A function that is bound late keeps its place in the table although its word may be known already: the loader adds the
                // distance of a file that lies where it was linked to, which is nothing.
                let late = slot.kind == Kind::JumpSlot && !self.copy.dynamic.bind_now;
                if late && expected != copy {
                    outcome.bound.push(bound(slot));
                } else {
                    self.word(slot, expected, copy);
                }
            } else if slot.kind == Kind::Relative {
                outcome.applied += 1;
                let linked = if slot.packed {
                    original
                } else {
                    Some(slot.addend.cast_unsigned())
                };
                self.word(slot, linked.map(|linked| self.moved(linked)), copy);
            } else {
                outcome.bound.push(bound(slot));
            }
        }
        outcome.added = left
            .into_values()
            .flatten()
            .map(|(relocation, _)| relocation)
            .collect();
        outcome.added.sort_unstable_by_key(|relocation| relocation.offset);
        Ok(outcome)
    }

    /// The loader takes so many of the first relocations for relative ones without a look (`DT_RELACOUNT`).
    fn leading(&mut self, copy: &Image<'_>) -> Result<(), Unreadable> {
        let count = copy.dynamic.relative;
        let most = usize::try_from(count).unwrap_or(usize::MAX);
        let relative = relocations::unpacked(copy)?
            .take(most)
            .take_while(|relocation| relocation.kind == Kind::Relative && !relocation.function)
            .count();
        self.field("dynamic table", "DT_RELACOUNT", 0, relative as u64, count);
        Ok(())
    }

    fn kept(&mut self, slot: &Slot, twin: &Relocation, packed: bool) {
        let own = matches!(slot.kind, Kind::Relative | Kind::Irelative) && !slot.packed;
        let addend = slot.addend.cast_unsigned();
        let expected = if own { self.moved(addend) } else { addend };
        let same = twin.kind == slot.kind
            && twin.symbol == slot.symbol
            && twin.addend.cast_unsigned() == expected
            && packed == slot.packed
            && (slot.kind != Kind::JumpSlot || twin.function);
        self.report.fields += 1;
        if !same {
            self.tell_slot(
                slot,
                What::Relocation(slot.kind),
                Some(expected),
                Some(twin.addend.cast_unsigned()),
            );
        }
    }

    fn word(&mut self, slot: &Slot, expected: Option<u64>, copy: Option<u64>) {
        if expected != copy {
            self.tell_slot(slot, What::Word(slot.kind), expected, copy);
        }
    }

    fn tell_slot(&mut self, slot: &Slot, what: What, original: Option<u64>, copy: Option<u64>) {
        let value = |word: Option<u64>| word.map_or(Value::Absent, Value::Number);
        self.report.differs(Difference {
            object: self.object.to_owned(),
            offset: slot.address.wrapping_sub(areas::origin(self.original)),
            what,
            original: value(original),
            copy: value(copy),
        });
    }
}
