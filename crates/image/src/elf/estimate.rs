//! Where the loader's time goes, from counts and from what each step costs on a machine.
//!
//! It is a model, meant to be printed beside a measurement: it leaves out the kernel's part of starting a program, what the
//! loader does for itself, and the initialisers of the libraries.

use super::closure::{Closure, Ending, Role};
use super::facts::{Facts, HashStyle};
use super::lookup::{Linker, Tally};
use super::search::Outcome;
use super::{Image, Unreadable};

/// What the loader does for a program, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Libraries beside the program and the loader.
    pub libraries: u64,
    /// Places where a needed library was not.
    pub misses: u64,
    /// Folders that were asked for because of that.
    pub folder_checks: u64,
    /// Relative relocations, packed or not, without those of the loader itself.
    pub relative: u64,
    /// Pages of 4 KiB that become the process's own because of relative relocations.
    pub relative_pages: u64,
    /// Pages that become its own because of other relocations only.
    pub symbol_pages: u64,
    /// Pages of tables that are read: symbols, texts, hashes, relocations.
    pub table_pages: u64,
    /// Libraries that have only the older hash table.
    pub sysv_only: u64,
    /// What is bound at start.
    pub eager: Tally,
    /// What waits for the first call.
    pub lazy: Tally,
}

/// What one step costs on a machine, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UnitCosts {
    /// A file that is not there is asked for.
    pub miss: f64,
    /// A library is opened, looked at, and its segments mapped.
    pub library: f64,
    /// A relative relocation on a page that is the process's own already.
    pub relative: f64,
    /// A page is written to for the first time and copied.
    pub copied_page: f64,
    /// A page of a file is read for the first time by the process; the kernel brings its neighbours along.
    pub read_page: f64,
    /// One library is looked into for one symbol.
    pub step: f64,
    /// The same if all libraries had the newer hash table; none when they have.
    pub step_rehashed: Option<f64>,
}

/// The time of each phase in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Places where libraries are not.
    pub search: f64,
    /// Opening and mapping libraries.
    pub mapping: f64,
    /// Writing relative relocations, without the faults.
    pub relative: f64,
    /// Looking symbols up.
    pub lookup: f64,
    /// Page faults: pages copied because they are written to, and tables read.
    pub faults: f64,
}

impl Estimate {
    /// All phases.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.search + self.mapping + self.relative + self.lookup + self.faults
    }
}

impl Work {
    /// Counts the work of a closure. `facts` are those of its objects, in order.
    ///
    /// # Errors
    /// When a file is damaged.
    pub fn of(closure: &Closure, facts: &[Facts], linker: &Linker<'_>) -> Result<Self, Unreadable> {
        let mut work = Self::default();
        for search in &closure.searches {
            let misses = search
                .places
                .iter()
                .filter(|place| matches!(place.outcome, Outcome::Missing | Outcome::OtherMachine));
            work.misses += misses.count() as u64;
            work.folder_checks += search.places.iter().filter(|place| place.asked_folder).count() as u64;
            work.libraries += u64::from(matches!(search.ending, Ending::Loaded(_)));
        }
        for (object, facts) in closure.objects.iter().zip(facts) {
            if object.role == Role::Loader {
                continue;
            }
            let counts = &facts.relocations;
            work.relative += counts.all_relative();
            work.relative_pages += counts.relative_pages;
            work.symbol_pages += counts.pages - counts.relative_pages;
            work.table_pages += Image::parse(&object.bytes)?.table_bytes().div_ceil(4096);
            work.sysv_only += u64::from(facts.hash == HashStyle::Sysv);
        }
        linker.resolve(&mut |resolution| {
            let tally = if resolution.lazy {
                &mut work.lazy
            } else {
                &mut work.eager
            };
            tally.add(resolution);
        })?;
        Ok(work)
    }

    /// What this work takes at these costs.
    #[must_use]
    pub fn estimate(&self, costs: &UnitCosts) -> Estimate {
        /// The kernel maps so many pages of a file at one fault when it has them in memory (`fault_around_bytes`).
        const AROUND: f64 = 16.0;
        let us = |count: u64, cost: f64| count as f64 * cost / 1000.0;
        Estimate {
            search: us(self.misses + self.folder_checks, costs.miss),
            mapping: us(self.libraries, costs.library),
            relative: us(self.relative, costs.relative),
            lookup: us(self.eager.cost.libraries, costs.step),
            faults: us(self.relative_pages + self.symbol_pages, costs.copied_page)
                + us(self.table_pages, costs.read_page / AROUND),
        }
    }

    /// Libraries that are looked into for one symbol, on average; none without lookups.
    #[must_use]
    pub fn depth(&self) -> Option<f64> {
        (self.eager.lookups > 0).then(|| self.eager.cost.libraries as f64 / self.eager.lookups as f64)
    }

    /// The largest part of an estimate, and what would lessen it, as a sentence.
    #[must_use]
    pub fn remedy(&self, estimate: &Estimate, costs: &UnitCosts) -> String {
        /// Below this nobody notices, whatever the shares are.
        const NOTICEABLE_US: f64 = 300.0;
        let total = estimate.total();
        if total < NOTICEABLE_US {
            return format!(
                "All of this takes about {total:.0} µs at each start, which only a program that is started very often would notice."
            );
        }
        let largest = [
            (estimate.search, self.search_remedy()),
            (
                estimate.mapping,
                format!(
                    "{} libraries are opened and mapped: fewer, or one merged library, would lessen it.",
                    whole(self.libraries)
                ),
            ),
            (
                estimate.relative + self.share_of_relative_pages() * estimate.faults,
                format!(
                    "{} relative relocations write to {} pages, which every process then holds for itself: prelinking, where the \
                     libraries get the addresses that they were prepared for, would remove both.",
                    whole(self.relative),
                    whole(self.relative_pages)
                ),
            ),
            (
                estimate.lookup + (1.0 - self.share_of_relative_pages()) * estimate.faults,
                self.lookup_remedy(costs),
            ),
        ];
        let (time, text) = largest
            .into_iter()
            .max_by(|(a, _), (b, _)| a.total_cmp(b))
            .unwrap_or_default();
        format!(
            "The largest part, about {:.0} % of {:.1} ms: {text}",
            time / total * 100.0,
            total / 1000.0
        )
    }

    fn share_of_relative_pages(&self) -> f64 {
        let all = self.relative_pages + self.symbol_pages;
        if all == 0 {
            0.0
        } else {
            self.relative_pages as f64 / all as f64
        }
    }

    fn search_remedy(&self) -> String {
        format!(
            "{} places were tried in vain: fewer folders in LD_LIBRARY_PATH and RPATH, or the libraries in the loader's cache \
             (ldconfig), would remove them.",
            whole(self.misses)
        )
    }

    fn lookup_remedy(&self, costs: &UnitCosts) -> String {
        let mut text = format!(
            "{} lookups through {} libraries, each into {:.1} of them: prelinking or -Bsymbolic-functions would remove them",
            whole(self.eager.lookups),
            whole(self.libraries + 1),
            self.depth().unwrap_or(0.0)
        );
        if let Some(newer) = costs
            .step_rehashed
            .filter(|newer| *newer > 0.0 && self.sysv_only > 0)
        {
            text.push_str(&format!(
                "; hash style sysv costs {:.1} × here: {} libraries have no other, and --hash-style=gnu would give them one",
                costs.step / newer,
                whole(self.sysv_only)
            ));
        }
        text.push('.');
        text
    }
}

/// A whole number for people: `12,345`.
fn whole(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::lookup::Cost;

    const COSTS: UnitCosts = UnitCosts {
        miss: 500.0,
        library: 30_000.0,
        relative: 1.0,
        copied_page: 1000.0,
        read_page: 1600.0,
        step: 20.0,
        step_rehashed: Some(10.0),
    };

    #[test]
    fn each_count_has_its_price_and_the_largest_its_remedy() {
        let mut work = Work {
            libraries: 40,
            misses: 10,
            folder_checks: 2,
            relative: 5000,
            relative_pages: 100,
            symbol_pages: 20,
            table_pages: 160,
            ..Work::default()
        };
        work.eager = Tally {
            lookups: 12_000,
            cost: Cost {
                libraries: 240_000,
                comparisons: 13_000,
                ..Cost::default()
            },
            ..Tally::default()
        };
        let estimate = work.estimate(&COSTS);
        assert_eq!(
            estimate,
            Estimate {
                search: 6.0,
                mapping: 1200.0,
                relative: 5.0,
                lookup: 4800.0,
                faults: 120.0 + 16.0,
            }
        );
        let remedy = work.remedy(&estimate, &COSTS);
        assert!(
            remedy.contains("12,000 lookups through 41 libraries, each into 20.0 of them: prelinking")
                && remedy.contains("of 6.1 ms")
                && !remedy.contains("hash"),
            "{remedy}"
        );
        work.sysv_only = 40;
        assert!(
            work.remedy(&estimate, &COSTS)
                .contains("sysv costs 2.0 × here: 40 libraries")
        );
        work.misses = 100_000;
        assert!(
            work.remedy(&work.estimate(&COSTS), &COSTS)
                .contains("100,000 places were tried in vain")
        );
        assert!(
            Work::default()
                .remedy(&Estimate::default(), &COSTS)
                .contains("0 µs")
        );
    }
}
