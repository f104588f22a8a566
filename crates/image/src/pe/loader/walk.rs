//! The walk: map a file, resolve its imports library by library, and go into each library that is not there yet.
//!
//! The walk keeps its own stack, because a set may be nested deeper than the stack of a thread.

use std::collections::HashSet;
use std::time::Instant;

use super::super::exports::Table;
use super::super::fixups::{self, Pages};
use super::super::imports::{DESCRIPTOR, Descriptor};
use super::super::view::entry;
use super::super::{Budget, View};
use super::module::map;
use super::plan::library_key;
use super::resolve::hash_of_library;
use super::space::{Space, user};
use super::{Counts, Loaded, Module, Plan, Refused, Times};

use object::pe::IMAGE_DIRECTORY_ENTRY_IMPORT;

/// Where a library is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// Mapped; its index among the modules.
    Mapped(usize),
    /// In the set; its index among the files.
    NotMapped(usize),
    /// Not in the set; the hash of its name.
    System(u64),
}

/// A load under way.
pub(super) struct Loading<'p, 'a> {
    pub(super) plan: &'p Plan<'a>,
    pub(super) modules: Vec<Module>,
    pub(super) wide: bool,
    /// By file: its index among the modules.
    places: Vec<Option<usize>>,
    space: Space,
    system: Vec<Vec<u8>>,
    /// The same, to be found.
    met: HashSet<Vec<u8>>,
    pub(super) counts: Counts,
    times: Times,
    pub(super) budget: Budget,
    buffers: Vec<Vec<u8>>,
}

/// A module whose imports are being resolved.
pub(super) struct Frame {
    pub(super) module: usize,
    /// The RVA of the next descriptor; `None` when nothing is imported.
    descriptor: Option<u32>,
    /// Slots of it that are done: the walk may have to go elsewhere in between.
    pub(super) slots: u32,
    /// Where in the directory of bound imports the next library is expected.
    pub(super) bound: Option<u32>,
}

/// What is to be done next.
enum Step {
    /// The same again, one further.
    Next,
    /// A file must be mapped, and its imports resolved, first.
    Enter(usize),
    /// This module has all that it needs.
    Done,
}

/// Loads the plan; `buffers` are used for images, so that a repeated load does not measure the host's memory.
pub(super) fn load(plan: &Plan<'_>, buffers: Vec<Vec<u8>>) -> Result<Loaded, Refused> {
    let bytes = plan.files.iter().map(|file| file.bytes.len()).sum();
    let mut loading = Loading {
        plan,
        modules: Vec::with_capacity(plan.files.len()),
        wide: plan.files.get(plan.root).is_some_and(|file| file.headers.wide),
        places: vec![None; plan.files.len()],
        space: Space::with(&plan.options.occupied),
        system: Vec::new(),
        met: HashSet::new(),
        counts: Counts::default(),
        times: Times::default(),
        budget: Budget::of(bytes),
        buffers,
    };
    let start = Instant::now();
    loading.walk()?;
    loading.times.total = nanoseconds(start);
    let counts = Counts {
        modules: loading.modules.len() as u64,
        dirtied: loading.modules.iter().map(|module| module.dirty.count()).sum(),
        ..loading.counts
    };
    Ok(Loaded {
        modules: loading.modules,
        system: loading.system,
        counts,
        times: loading.times,
    })
}

fn nanoseconds(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

impl Loading<'_, '_> {
    fn walk(&mut self) -> Result<(), Refused> {
        let mut stack = vec![self.enter(self.plan.root)?];
        while let Some(frame) = stack.last_mut() {
            let start = Instant::now();
            let step = self.step(frame)?;
            self.times.imports += nanoseconds(start);
            match step {
                Step::Next => {}
                Step::Enter(file) => stack.push(self.enter(file)?),
                Step::Done => {
                    stack.pop();
                }
            }
        }
        Ok(())
    }

    /// Maps a file, at its preferred base or elsewhere and then adjusted.
    fn enter(&mut self, file: usize) -> Result<Frame, Refused> {
        let start = Instant::now();
        let plan = self.plan;
        let unreadable = plan.unreadable(file);
        let name = || plan.name(file).to_owned();
        let source = plan.files.get(file).ok_or_else(|| Refused::NoRoot(name()))?;
        let headers = &source.headers;
        let base = self.address(file)?;
        let moved = base != headers.base;
        let image = map(source, self.buffers.pop().unwrap_or_default()).map_err(unreadable)?;
        let exports = Table::find(image.as_slice(), headers).map_err(unreadable)?;
        let mut module = Module {
            file,
            base,
            moved,
            dirty: Pages::of(image.len()),
            image,
            fixups: 0,
            exports,
        };
        self.times.map += nanoseconds(start);
        if moved {
            self.counts.moved += 1;
            if let Some(directory) = fixups::directory(headers) {
                let start = Instant::now();
                let distance = base.wrapping_sub(headers.base);
                module.fixups = fixups::apply(&mut module.image, directory, distance, &mut module.dirty)
                    .map_err(unreadable)?;
                self.times.fixups += nanoseconds(start);
                self.counts.fixups += module.fixups;
                self.counts.fixup_pages += module.dirty.count();
            }
        }
        let index = self.modules.len();
        self.modules.push(module);
        if let Some(place) = self.places.get_mut(file) {
            *place = Some(index);
        }
        Ok(Frame {
            module: index,
            descriptor: headers
                .directory(IMAGE_DIRECTORY_ENTRY_IMPORT)
                .map(|directory| directory.rva),
            slots: 0,
            bound: None,
        })
    }

    /// Where a file is to lie.
    fn address(&mut self, file: usize) -> Result<u64, Refused> {
        let name = || self.plan.name(file).to_owned();
        let headers = match self.plan.files.get(file) {
            Some(file) => &file.headers,
            None => return Err(Refused::NoRoot(name())),
        };
        let size = u64::from(headers.size_of_image);
        let limits = user(self.wide);
        // Without base relocations the flag means nothing.
        let anywhere = self.plan.options.dynamic_base && headers.has_dynamic_base() && !headers.is_fixed();
        if !anywhere && self.space.take(headers.base, size, &limits) {
            return Ok(headers.base);
        }
        if headers.is_fixed() {
            return Err(Refused::Fixed {
                file: name(),
                base: headers.base,
            });
        }
        let room = if anywhere {
            self.space.highest(size, &limits)
        } else {
            self.space.lowest(size, &limits)
        };
        room.ok_or_else(|| Refused::Full { file: name() })
    }

    /// Where the library of this name is.
    pub(super) fn find(&self, library: &[u8]) -> Place {
        match self.plan.find(library) {
            Some(file) => match self.places.get(file) {
                Some(&Some(index)) => Place::Mapped(index),
                _ => Place::NotMapped(file),
            },
            None => Place::System(hash_of_library(library)),
        }
    }

    /// Resolves the imports of one descriptor, or says what must come first.
    fn step(&mut self, frame: &mut Frame) -> Result<Step, Refused> {
        let (Some(module), Some(rva)) = (self.modules.get(frame.module), frame.descriptor) else {
            return Ok(Step::Done);
        };
        let unreadable = self.plan.unreadable(module.file);
        let image = module.image.as_slice();
        let Some(descriptor) = Descriptor::read(image, rva).map_err(unreadable)? else {
            return Ok(Step::Done);
        };
        let library = image.text(descriptor.name).map_err(unreadable)?;
        self.budget.spend(1 + library.len()).map_err(unreadable)?;
        let place = self.find(library);
        match place {
            Place::NotMapped(file) => return Ok(Step::Enter(file)),
            Place::System(_) => {
                let name = library_key(library);
                if self.met.insert(name.clone()) {
                    self.system.push(name);
                }
            }
            Place::Mapped(_) => {}
        }
        if let Some(file) = self.snap(frame, &descriptor, place)? {
            return Ok(Step::Enter(file));
        }
        frame.descriptor = entry(rva, 1, DESCRIPTOR);
        frame.slots = 0;
        Ok(Step::Next)
    }
}
