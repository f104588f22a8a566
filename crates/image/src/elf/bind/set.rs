//! Where each object comes to lie, and the copies.

use std::collections::HashMap;

use super::super::moving::{self, Call, Fate, Move, Moved, PAGE};
use super::fates::Source;
use super::{Choice, Refusal, Stays};

/// A huge page. Since Linux 6.7 a file that is mapped is given the address that it asks for only if so much behind it is free too
/// (the kernel looks for a place that it could round up), and guard and program are there before the libraries.
const HUGE: u64 = 2 << 20;

/// The addresses of a set: libraries, then a range for the guard, then the program, behind which its heap begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// How far each object moves up; none for those that float.
    pub moves: Vec<Option<u64>>,
    /// The first address that is used.
    pub begin: u64,
    /// Where the guard begins.
    pub guard: u64,
    /// Behind the last library or the guard.
    pub end: u64,
    /// The first page of the program, and the end of its last.
    pub program: (u64, u64),
}

/// A word that gets the address of something that floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// The word, an address at run time.
    pub slot: u64,
    /// The object that floats, as an index in the closure.
    pub object: usize,
    /// What is to be added to its address.
    pub value: u64,
    /// The sum is a function that answers with the word.
    pub chosen: bool,
}

/// A copy.
#[derive(Clone, Debug)]
pub struct Copied {
    /// The object, as an index in the closure.
    pub object: usize,
    /// Its file.
    pub file: Moved,
}

impl Choice<'_> {
    /// Lays the set out from an address on. The guard takes `guard` bytes.
    ///
    /// # Errors
    /// When the set does not fit in.
    pub fn layout(&self, begin: u64, guard: u64) -> Result<Layout, Refusal> {
        let mut layout = Layout {
            moves: vec![None; self.stays.len()],
            begin,
            guard: begin,
            end: begin,
            program: (0, 0),
        };
        let mut next = begin;
        for object in self.moving().filter(|&object| object != 0) {
            let (by, end) = self.placed(object, next)?;
            if let Some(place) = layout.moves.get_mut(object) {
                *place = Some(by);
            }
            // A page between two of them stays empty, so that running over the end of one does not reach the next.
            next = end + PAGE;
        }
        layout.guard = (next + HUGE).next_multiple_of(HUGE);
        layout.end = (layout.guard + guard).next_multiple_of(PAGE);
        let is_fixed = self
            .linker
            .tables()
            .next()
            .is_some_and(|(image, _)| image.is_fixed());
        let above = if is_fixed {
            None
        } else {
            Some((layout.end + PAGE).next_multiple_of(HUGE))
        };
        let (by, end) = match above {
            Some(above) => self.placed(0, above)?,
            None => (0, self.extent(0)?.1),
        };
        if let Some(place) = layout.moves.first_mut() {
            *place = Some(by);
        }
        layout.program = (self.extent(0)?.0.wrapping_add(by), end);
        Ok(layout)
    }

    /// How far an object moves to lie behind an address, and where it then ends.
    fn placed(&self, object: usize, behind: u64) -> Result<(u64, u64), Refusal> {
        let (begin, end) = self.extent(object)?;
        let alignment = self
            .linker
            .tables()
            .nth(object)
            .map_or(PAGE, |(image, _)| moving::alignment(image));
        let by = behind.saturating_sub(begin).next_multiple_of(alignment);
        let end = end.checked_add(by).filter(|&end| end < 1 << 47);
        Ok((
            by,
            end.ok_or_else(|| self.refusal(object, moving::Immovable::TooHigh(behind)))?,
        ))
    }

    fn extent(&self, object: usize) -> Result<(u64, u64), Refusal> {
        let parts = self.linker.tables().nth(object).zip(self.texts.get(object));
        let ((image, _), texts) = parts.ok_or(Refusal::Static)?;
        moving::extent(image, texts).map_err(|why| self.refusal(object, why))
    }

    fn refusal(&self, object: usize, why: moving::Immovable) -> Refusal {
        match self.closure.objects.get(object) {
            Some(library) if object != 0 => Refusal::Library(library.path.clone(), why),
            _ => Refusal::Program(Stays::Immovable(why)),
        }
    }

    /// What is to be filled in at start, by object; empty where nothing is, or where the loader cannot be made to call for it.
    ///
    /// # Errors
    /// When a file is damaged.
    pub fn fills(&self, layout: &Layout) -> Result<Vec<Vec<Fill>>, Refusal> {
        let mut all = vec![Vec::new(); self.stays.len()];
        for object in self.moving() {
            let Some(by) = at(layout, object) else {
                continue;
            };
            let fills = self.fills_of(object, by);
            if !fills.is_empty()
                && self.may_call(object, layout)?
                && let Some(place) = all.get_mut(object)
            {
                *place = fills;
            }
        }
        Ok(all)
    }

    /// Whether the loader can be made to call a function when it relocates an object: there is a relocation less, whose place it
    /// takes.
    ///
    /// # Errors
    /// When the file is damaged.
    pub fn may_call(&self, object: usize, layout: &Layout) -> Result<bool, Refusal> {
        let parts = self.linker.tables().nth(object).zip(self.texts.get(object));
        let fates = self.fates(object, layout, true);
        parts.map_or(Ok(false), |((image, _), texts)| {
            moving::has_room(image, &fates, texts).map_err(|why| self.refusal(object, why))
        })
    }

    fn fills_of(&self, object: usize, by: u64) -> Vec<Fill> {
        let binds = self.binds.get(object).map_or(&[][..], Vec::as_slice);
        binds
            .iter()
            .filter_map(|&(address, bind)| match bind.source {
                Source::Object(target) if !self.moves(target) => Some(Fill {
                    slot: address.wrapping_add(by),
                    object: target,
                    value: bind.value,
                    chosen: bind.chosen,
                }),
                _ => None,
            })
            .collect()
    }

    fn fates(&self, object: usize, layout: &Layout, filled: bool) -> HashMap<u64, Fate> {
        let binds = self.binds.get(object).map_or(&[][..], Vec::as_slice);
        binds
            .iter()
            .filter_map(|&(address, bind)| {
                let fate = match bind.source {
                    Source::Number => Fate::Write(bind.value),
                    Source::Object(target) => match at(layout, target) {
                        Some(by) => Fate::Write(bind.value.wrapping_add(by)),
                        None if filled => Fate::Leave,
                        None => return None,
                    },
                };
                Some((address, fate))
            })
            .collect()
    }

    /// The copies. `calls` says for each object that has something to be filled in how the loader comes to do it.
    ///
    /// # Errors
    /// When one of them cannot be made.
    pub fn copies(
        &self,
        layout: &Layout,
        calls: &dyn Fn(usize) -> Option<Call>,
    ) -> Result<Vec<Copied>, Refusal> {
        let mut copies = Vec::new();
        for object in self.moving() {
            let parts = self.linker.tables().nth(object).zip(self.texts.get(object));
            let Some((((image, _), texts), by)) = parts.zip(at(layout, object)) else {
                continue;
            };
            let call = calls(object);
            let how = Move {
                by,
                fates: self.fates(object, layout, call.is_some()),
                call,
                texts: texts.clone(),
                fixed: object == 0,
            };
            let file = moving::moved(image, &how).map_err(|why| self.refusal(object, why))?;
            copies.push(Copied { object, file });
        }
        Ok(copies)
    }
}

fn at(layout: &Layout, object: usize) -> Option<u64> {
    layout.moves.get(object).copied().flatten()
}
