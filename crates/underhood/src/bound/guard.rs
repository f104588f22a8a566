//! The guard of a bound copy: what it is told to check and to fill in.

use std::path::Path;

use image::elf::Image;
use image::elf::bind::{self, Choice, Layout};
use image::elf::closure::Role;
use image::elf::guard::{self, Fill, Floating, Identity, Places, Plan, Renamed, Unfillable};
use image::elf::moving::Call;
use record::format::bound::Stamp;

use super::{Work, refusal};
use crate::closure::{CACHE, PRELOAD, unreadable};
use crate::exit::{Failure, UNSUPPORTED};

/// A guard whose place is known.
#[derive(Debug)]
pub struct Guard {
    begin: u64,
    ranges: Vec<(u64, u64)>,
    places: Places,
    /// For each object the number under which the guard knows what to fill in.
    numbers: Vec<Option<usize>>,
}

fn unfillable(error: &Unfillable) -> Failure {
    Failure::new(UNSUPPORTED, error.to_string())
}

fn template() -> Result<&'static [u8], Failure> {
    let found = bundle::find("guard").map(|artifact| artifact.bytes);
    found.ok_or_else(|| {
        Failure::new(
            UNSUPPORTED,
            "find the guard of bound copies: it is made for Linux on x86-64",
        )
    })
}

impl Guard {
    /// How many bytes of addresses it will take.
    pub fn size(work: &Work<'_>, choice: &Choice<'_>, fills: &[Vec<bind::Fill>]) -> Result<u64, Failure> {
        const ANYWHERE: u64 = 1 << 40;
        let at = Layout {
            moves: Vec::new(),
            begin: ANYWHERE,
            guard: ANYWHERE,
            end: ANYWHERE,
            program: (0, 0),
        };
        let trial = Self::at(ANYWHERE, &at, fills, true)?;
        let plan = trial.plan(work, choice, fills, None, &|_| Ok(Stamp::default()))?;
        let filled = guard::fill(template()?, ANYWHERE, &plan).map_err(|error| unfillable(&error))?;
        Ok(filled.end - ANYWHERE)
    }

    /// The guard at an address. `naming` says that the program calls it even if nothing of its own is to be filled in: with the
    /// first call the copies get back their originals' names.
    pub fn at(begin: u64, layout: &Layout, fills: &[Vec<bind::Fill>], naming: bool) -> Result<Self, Failure> {
        let mut next = 0;
        let numbers = fills
            .iter()
            .enumerate()
            .map(|(object, fills)| {
                let number = ((object == 0 && naming) || !fills.is_empty()).then_some(next);
                next += usize::from(number.is_some());
                number
            })
            .collect();
        Ok(Self {
            begin,
            ranges: vec![(layout.begin, layout.guard - layout.begin)],
            places: guard::places(template()?, begin).map_err(|error| unfillable(&error))?,
            numbers,
        })
    }

    /// How the loader comes to fill in an object.
    pub fn call(&self, object: usize) -> Option<Call> {
        let number = self.numbers.get(object).copied().flatten()?;
        Some(Call {
            answer: self.places.scratch,
            function: self.places.stub(number)?,
        })
    }

    /// The file, now that the copies are written and can be told from others.
    pub fn filled(
        &self,
        work: &Work<'_>,
        choice: &Choice<'_>,
        fills: &[Vec<bind::Fill>],
        debug: Option<u64>,
    ) -> Result<Vec<u8>, Failure> {
        let plan = self.plan(work, choice, fills, debug, &refusal::stamp)?;
        let filled = guard::fill(template()?, self.begin, &plan).map_err(|error| unfillable(&error))?;
        Ok(filled.bytes)
    }

    fn plan(
        &self,
        work: &Work<'_>,
        choice: &Choice<'_>,
        fills: &[Vec<bind::Fill>],
        debug: Option<u64>,
        stamp: &dyn Fn(&Path) -> Result<Stamp, Failure>,
    ) -> Result<Plan, Failure> {
        let identity = |path: &Path| stamp(path).map(identity);
        let objects = &work.closure.objects;
        let mut watched = Vec::new();
        let watch = |watched: &mut Vec<(String, Identity)>, path: &str| -> Result<(), Failure> {
            watched.push((path.to_owned(), identity(Path::new(path))?));
            Ok(())
        };
        for path in refusal::passed_over(work.closure) {
            watch(&mut watched, &path)?;
        }
        let mut absent = refusal::absent(work.closure);
        for list in [CACHE, PRELOAD] {
            if Path::new(list).exists() {
                watch(&mut watched, list)?;
            } else {
                absent.push(list.to_owned());
            }
        }
        let mut loader = None;
        let mut floating = Vec::new();
        let mut numbers = vec![None; objects.len()];
        let mut renamed = Vec::new();
        for (index, object) in objects.iter().enumerate() {
            if object.role == Role::Loader {
                let identity = identity(Path::new(&object.path))?;
                let read = guard::Loader::read(&object.path, identity, &object.bytes);
                loader = Some(read.map_err(|error| unfillable(&error))?);
            } else {
                watch(&mut watched, &object.path)?;
            }
            if choice.stays(index).is_some() {
                let image = Image::parse(&object.bytes).map_err(|error| unreadable(&object.path, &error))?;
                if let Some(place) = numbers.get_mut(index) {
                    *place = u32::try_from(floating.len()).ok();
                }
                floating.push(Floating {
                    names: vec![object.path.clone()],
                    dynamic: image.dynamic_address(),
                });
                continue;
            }
            // The program's copy need not be watched: it is what runs, and it leads to this guard.
            if index != 0 {
                let now = work.set.now(index);
                watched.push((work.set.path_of(index), identity(&now)?));
                renamed.push(Renamed {
                    copy: work.set.path_of(index),
                    original: object.path.clone(),
                    identities: Some((identity(&now)?, identity(Path::new(&object.path))?)),
                });
            }
        }
        let fill = |fill: &bind::Fill| {
            let floating = numbers.get(fill.object).copied().flatten();
            floating.map(|floating| Fill {
                slot: fill.slot,
                floating,
                value: fill.value,
                ifunc: fill.chosen,
            })
        };
        let called = fills
            .iter()
            .zip(&self.numbers)
            .filter(|(_, number)| number.is_some());
        Ok(Plan {
            original: work.request.program.display().to_string(),
            loader: loader.ok_or_else(|| Failure::new(UNSUPPORTED, "find the loader of the program"))?,
            watched,
            absent,
            ranges: self.ranges.clone(),
            hwcap: os::loader::hardware(),
            debug: debug.unwrap_or(0),
            floating,
            renamed,
            fills: called
                .map(|(fills, _)| fills.iter().filter_map(fill).collect())
                .collect(),
        })
    }
}

fn identity(stamp: Stamp) -> Identity {
    Identity {
        device: stamp.device,
        inode: stamp.inode,
        size: stamp.size,
        modified: (stamp.seconds, stamp.nanoseconds),
    }
}
