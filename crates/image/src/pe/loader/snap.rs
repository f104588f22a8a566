//! Filling the slots of one library's imports, or finding that they are filled already.
//!
//! A slot is bound when it was given its address beforehand. There are two kinds of binding. The new one lists the libraries and
//! their stamps in a directory; it either holds for all slots of a library or for none. The old one has the library's stamp in
//! the descriptor, and slots with forwarded exports, which it could not bind, are chained through their contents.

use super::super::bound::{Reference, Walk};
use super::super::imports::{self, BOUND, Descriptor, NO_CHAIN};
use super::super::patch::put_word;
use super::super::view::entry;
use super::super::{Unreadable, View};
use super::Refused;
use super::resolve::{Cost, Resolved};
use super::walk::{Frame, Loading, Place};

const CUT: Unreadable = Unreadable::Damaged("a list of imports is cut off");

/// Whether the slots of a descriptor are right as they stand.
#[derive(Clone, Copy, Debug)]
enum Binding {
    /// They were never bound.
    None,
    /// They were, to something else.
    Stale,
    /// They are, but for those that are chained from this one.
    Holds { chain: u32 },
    /// A file must be mapped before this can be said.
    Wants(usize),
}

impl From<bool> for Binding {
    fn from(holds: bool) -> Self {
        if holds {
            Self::Holds { chain: NO_CHAIN }
        } else {
            Self::Stale
        }
    }
}

impl Loading<'_, '_> {
    /// Makes the slots of a descriptor right. Gives a file that must be mapped first.
    pub(super) fn snap(
        &mut self,
        frame: &mut Frame,
        descriptor: &Descriptor,
        place: Place,
    ) -> Result<Option<usize>, Refused> {
        let binding = self.binding(frame, descriptor, place)?;
        let wanted = match binding {
            Binding::Wants(file) => Some(file),
            Binding::Holds { chain } => self.chain(frame, descriptor, place, chain)?,
            Binding::Stale | Binding::None => self.fill(frame, descriptor, place)?,
        };
        if wanted.is_none() {
            self.counts.bound += u64::from(matches!(binding, Binding::Holds { .. }));
            self.counts.stale += u64::from(matches!(binding, Binding::Stale));
        }
        Ok(wanted)
    }

    fn binding(
        &mut self,
        frame: &mut Frame,
        descriptor: &Descriptor,
        place: Place,
    ) -> Result<Binding, Refused> {
        if !self.plan.options.bound || descriptor.stamp == 0 || descriptor.lookup == 0 {
            return Ok(Binding::None);
        }
        if descriptor.stamp != BOUND {
            return Ok(if self.is_as_bound(place, descriptor.stamp) {
                Binding::Holds {
                    chain: descriptor.chain,
                }
            } else {
                Binding::Stale
            });
        }
        let plan = self.plan;
        let Some(module) = self.modules.get(frame.module) else {
            return Ok(Binding::None);
        };
        let unreadable = plan.unreadable(module.file);
        let image = module.image.as_slice();
        let library = image.text(descriptor.name).map_err(unreadable)?;
        let walk = plan
            .files
            .get(module.file)
            .and_then(|file| Walk::new(image, &file.headers));
        let Some(mut walk) = walk else {
            return Ok(Binding::Stale);
        };
        let start = walk.next;
        // Usually both tables are in the same order.
        walk.next = frame.bound.unwrap_or(start);
        let mut from_start = walk.next == start;
        loop {
            self.budget.spend(1).map_err(unreadable)?;
            match walk.entry().map_err(unreadable)? {
                Some((reference, forwarders)) if reference.library.eq_ignore_ascii_case(library) => {
                    let mut holds = self.is_as_bound(place, reference.stamp);
                    for _ in 0..forwarders {
                        let Reference { library, stamp } = walk.forwarder().map_err(unreadable)?;
                        match self.find(library) {
                            Place::NotMapped(file) if holds => return Ok(Binding::Wants(file)),
                            place => holds = holds && self.is_as_bound(place, stamp),
                        }
                    }
                    frame.bound = Some(walk.next);
                    return Ok(holds.into());
                }
                Some((_, forwarders)) => {
                    for _ in 0..forwarders {
                        walk.forwarder().map_err(unreadable)?;
                    }
                }
                None if from_start => return Ok(Binding::Stale),
                None => {
                    walk.next = start;
                    from_start = true;
                }
            }
        }
    }

    /// True when a library is what slots were bound to: of this stamp, and where it prefers to be.
    fn is_as_bound(&self, place: Place, stamp: u32) -> bool {
        let Place::Mapped(index) = place else { return false };
        let module = self.modules.get(index);
        let file = module.and_then(|module| self.plan.files.get(module.file));
        let same = file.is_some_and(|file| file.headers.stamp == stamp);
        stamp != 0 && same && module.is_some_and(|module| !module.moved)
    }

    /// Fills all slots of a descriptor.
    fn fill(
        &mut self,
        frame: &mut Frame,
        descriptor: &Descriptor,
        place: Place,
    ) -> Result<Option<usize>, Refused> {
        loop {
            match self.slot(frame.module, descriptor, place, frame.slots)? {
                Some((_, Resolved::Wants(file))) => return Ok(Some(file)),
                Some((slot, Resolved::Address(address, cost))) => {
                    self.write(frame.module, slot, address, cost)?;
                    frame.slots += 1;
                }
                None => break,
            }
        }
        if frame.slots > 0
            && let Some(module) = self.modules.get_mut(frame.module)
        {
            let bytes = frame.slots.saturating_mul(imports::width(self.wide));
            module.dirty.mark(descriptor.slots, bytes);
        }
        Ok(None)
    }

    /// Fills the chained slots of a descriptor. A slot's content is the number of the next until it is overwritten, so all are
    /// resolved before any is written.
    fn chain(
        &mut self,
        frame: &Frame,
        descriptor: &Descriptor,
        place: Place,
        chain: u32,
    ) -> Result<Option<usize>, Refused> {
        let mut found = Vec::new();
        let mut next = chain;
        while next != NO_CHAIN {
            let Some(module) = self.modules.get(frame.module) else {
                return Ok(None);
            };
            let unreadable = self.plan.unreadable(module.file);
            let (slot, resolved) = self
                .slot(frame.module, descriptor, place, next)?
                .ok_or_else(|| unreadable(CUT))?;
            match resolved {
                Resolved::Wants(file) => return Ok(Some(file)),
                Resolved::Address(address, cost) => found.push((slot, address, cost)),
            }
            let module = self.modules.get(frame.module);
            let content = module.and_then(|module| module.image.u32(slot));
            next = content.ok_or_else(|| unreadable(CUT))?;
        }
        for (slot, address, cost) in found {
            self.write(frame.module, slot, address, cost)?;
            if let Some(module) = self.modules.get_mut(frame.module) {
                module.dirty.mark(slot, imports::width(self.wide));
            }
        }
        Ok(None)
    }

    /// The place of slot `index` and what belongs into it; `None` at the end of the list.
    fn slot(
        &mut self,
        importer: usize,
        descriptor: &Descriptor,
        place: Place,
        index: u32,
    ) -> Result<Option<(u32, Resolved)>, Refused> {
        let Some(module) = self.modules.get(importer) else {
            return Ok(None);
        };
        let unreadable = self.plan.unreadable(module.file);
        self.budget.spend(1).map_err(unreadable)?;
        let width = imports::width(self.wide);
        let places = entry(descriptor.names(), index, width).zip(entry(descriptor.slots, index, width));
        let (name, slot) = places.ok_or_else(|| unreadable(CUT))?;
        let image = module.image.as_slice();
        match imports::symbol(image, name, self.wide).map_err(unreadable)? {
            Some(symbol) => {
                let resolved = self.resolve(module.file, place, symbol)?;
                Ok(Some((slot, resolved)))
            }
            None => Ok(None),
        }
    }

    fn write(&mut self, importer: usize, slot: u32, address: u64, cost: Cost) -> Result<(), Refused> {
        if let Some(module) = self.modules.get_mut(importer) {
            let unreadable = self.plan.unreadable(module.file);
            put_word(&mut module.image, slot as usize, address, self.wide).map_err(unreadable)?;
            self.counts.written += 1;
            cost.add_to(&mut self.counts);
        }
        Ok(())
    }
}
