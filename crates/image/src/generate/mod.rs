//! Sets of libraries and a program that uses all of them, as the article on load time generates them.
//!
//! [`Set`] says what is wanted, [`sources::of`] writes it as C, [`recipe::of`] gives the commands that build it, and
//! [`expected`] what must then be found in the files: a compiler that removes what nobody seems to need would else be
//! timed as a fast loader.

pub mod names;
pub mod recipe;
pub mod sources;

use crate::count::Counts;

/// The format of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Linux and others.
    Elf,
    /// Windows.
    Pe,
}

/// How the program names the functions that it imports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Import {
    /// By name.
    Name,
    /// By number, and the libraries do not contain the names (PE only).
    Ordinal,
}

/// What a reference to a global variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum References {
    /// An entry of a table of pointers to variables of the library itself: one relative relocation (ELF) or one fixup of 8 bytes (PE) each.
    Table,
    /// A store in the code of the function, as in the article. Today's compilers address variables relative to the code, so
    /// that nothing is left to the loader.
    Code,
    /// An entry of a table of pointers to exported variables: one symbol to look up each (ELF); as [`Self::Table`] in PE.
    Symbol,
}

/// How the functions are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// `lib1_func_1`.
    C,
    /// As a C++ compiler would decorate a name, with so many characters in all.
    Cxx(usize),
}

/// How the program and its libraries are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
    /// A program and its libraries.
    Dynamic,
    /// A program and one library with everything.
    Merged,
    /// One program, at a fixed address.
    Static,
    /// One program that relocates itself.
    StaticPie,
}

/// Which hash tables an ELF library has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hash {
    /// Only the one with the Bloom filter.
    Gnu,
    /// Only the one of System V.
    Sysv,
    /// Both.
    Both,
}

/// What is to be generated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Set {
    /// The format of the files.
    pub format: Format,
    /// Number of libraries, 1 to 1,000.
    pub libraries: u32,
    /// Functions that each library exports and the program imports, 1 to 10,000.
    pub functions: u32,
    /// References to global variables a function, 0 to 1,000.
    pub globals: u32,
    /// What a reference is.
    pub references: References,
    /// By name or by number.
    pub import: Import,
    /// How functions are called.
    pub naming: Naming,
    /// So many functions of each library but the first call one of the library before it.
    pub cross: u32,
    /// How it is put together.
    pub linkage: Linkage,
    /// Hash tables (ELF).
    pub hash: Hash,
    /// All functions are bound at the start instead of at their first call (ELF).
    pub now: bool,
    /// Libraries bind their own symbols to themselves (ELF).
    pub symbolic: bool,
    /// Relative relocations are packed (ELF).
    pub relr: bool,
    /// The exported symbols of libraries are protected: no other can take their place (ELF).
    pub protected: bool,
    /// Calls go through a pointer and not through a linkage table (ELF).
    pub no_plt: bool,
    /// The linker, as `-fuse-ld=` takes it; the compiler's own without it (ELF).
    pub linker: Option<String>,
    /// Alignment: of the segments in memory (ELF), of the sections in the file (PE); a power of 2.
    pub align: Option<u64>,
    /// Every library asks for an address range of its own.
    pub distinct_bases: bool,
}

impl Default for Set {
    /// The article's: 10 libraries of 100 functions with 5 references each, for this host.
    fn default() -> Self {
        Self {
            format: if std::path::MAIN_SEPARATOR == '\\' {
                Format::Pe
            } else {
                Format::Elf
            },
            libraries: 10,
            functions: 100,
            globals: 5,
            references: References::Table,
            import: Import::Name,
            naming: Naming::C,
            cross: 0,
            linkage: Linkage::Dynamic,
            hash: Hash::Gnu,
            now: false,
            symbolic: false,
            relr: false,
            protected: false,
            no_plt: false,
            linker: None,
            align: None,
            distinct_bases: false,
        }
    }
}

/// What cannot be generated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// A number is out of its range.
    #[error("{what} is {value}, and must be from {low} to {high}")]
    Range {
        /// Which number.
        what: &'static str,
        /// What it is.
        value: u64,
        /// The least.
        low: u64,
        /// The most.
        high: u64,
    },
    /// Two wishes exclude each other.
    #[error("{0}")]
    Contradiction(&'static str),
}

impl Set {
    /// Checks that the set can exist.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self) -> Result<(), Refused> {
        let range = |what, value: u64, low, high| {
            if (low..=high).contains(&value) {
                Ok(())
            } else {
                Err(Refused::Range {
                    what,
                    value,
                    low,
                    high,
                })
            }
        };
        range("the number of libraries", self.libraries.into(), 1, 1000)?;
        range("the number of functions", self.functions.into(), 1, 10_000)?;
        range("the number of globals", self.globals.into(), 0, 1000)?;
        range(
            "the number of cross calls",
            self.cross.into(),
            0,
            self.functions.into(),
        )?;
        range(
            "the number of references in all",
            u64::from(self.libraries) * u64::from(self.functions) * u64::from(self.globals),
            0,
            10_000_000,
        )?;
        if let Naming::Cxx(length) = self.naming {
            range("the length of names", length as u64, names::SHORTEST as u64, 4000)?;
        }
        if let Some(align) = self.align {
            let least = if self.format == Format::Pe { 512 } else { 4096 };
            range("the alignment", align, least, 1 << 21)?;
            if !align.is_power_of_two() {
                return Err(Refused::Contradiction("the alignment is no power of 2"));
            }
        }
        let against = |wrong, text| {
            if wrong {
                Err(Refused::Contradiction(text))
            } else {
                Ok(())
            }
        };
        let pe = self.format == Format::Pe;
        against(
            !pe && self.import == Import::Ordinal,
            "ELF has no import by ordinal; --format pe has",
        )?;
        against(
            pe && (self.now
                || self.symbolic
                || self.relr
                || self.protected
                || self.no_plt
                || self.hash != Hash::Gnu),
            "lazy binding, hash styles, RELR, -Bsymbolic and visibility are ELF's; PE has none of them",
        )?;
        against(
            pe && !matches!(self.linkage, Linkage::Dynamic | Linkage::Merged),
            "a PE program without libraries has nothing to load; --static and --static-pie are for ELF",
        )?;
        against(
            self.relr && self.linker.as_deref() == Some("gold"),
            "gold cannot pack relative relocations; take --linker bfd",
        )?;
        against(
            pe && self.linker.is_some(),
            "the linker for PE is the compiler's own",
        )
    }

    /// Whether there are libraries apart from the program.
    #[must_use]
    pub fn has_libraries(&self) -> bool {
        matches!(self.linkage, Linkage::Dynamic | Linkage::Merged)
    }

    /// The numbers of the libraries as files: their base names without ending, and the parts (1, 2, …) that each contains.
    #[must_use]
    pub fn files(&self) -> Vec<(String, Vec<u32>)> {
        let parts = 1..=self.libraries;
        match self.linkage {
            Linkage::Merged => vec![("liball".to_owned(), parts.collect())],
            _ => parts.map(|part| (format!("lib{part}"), vec![part])).collect(),
        }
    }

    /// The name of a library's file.
    #[must_use]
    pub fn file_name(&self, base: &str) -> String {
        match self.format {
            Format::Elf => format!("{base}.so"),
            Format::Pe => format!("{base}.dll"),
        }
    }

    /// The name of the program's file.
    #[must_use]
    pub const fn program_name(&self) -> &'static str {
        match self.format {
            Format::Elf => "app",
            Format::Pe => "app.exe",
        }
    }
}

/// What must be in the files that were built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Functions of the set that the program imports.
    pub imports: u64,
    /// Among them, by ordinal.
    pub by_ordinal: u64,
    /// Functions of the set that the libraries import from each other.
    pub cross: u64,
    /// Relative relocations or fixups in all libraries; `None` when the compiler decides.
    pub relative: Option<u64>,
    /// Symbolic references to variables in all libraries.
    pub symbolic: u64,
}

/// What the set must contain when it is built as asked.
#[must_use]
pub fn expected(set: &Set) -> Expected {
    let functions = u64::from(set.libraries) * u64::from(set.functions);
    let references = functions * u64::from(set.globals);
    let merged = set.linkage == Linkage::Merged;
    let imports = if set.has_libraries() { functions } else { 0 };
    let symbol = set.references == References::Symbol && set.format == Format::Elf;
    // With -Bsymbolic, or protected, a library's own symbols are its own, and their addresses relative.
    let own = set.symbolic || set.protected;
    Expected {
        imports,
        by_ordinal: if set.import == Import::Ordinal { imports } else { 0 },
        cross: if set.has_libraries() && !merged {
            u64::from(set.cross) * u64::from(set.libraries - 1)
        } else {
            0
        },
        relative: match set.references {
            _ if !set.has_libraries() => None,
            // In one library the calls between its parts leave tables behind that depend on the linker.
            _ if merged && set.cross > 0 => None,
            References::Table => Some(references),
            References::Symbol if !symbol || own => Some(references),
            References::Symbol => Some(0),
            References::Code => None,
        },
        symbolic: if symbol && !own && set.has_libraries() {
            references
        } else {
            0
        },
    }
}

/// Compares what was found with what was asked for. The error is a list of what differs.
///
/// # Errors
/// One line a difference.
pub fn verify(set: &Set, program: &Counts, libraries: &[Counts]) -> Result<(), Vec<String>> {
    let expected = expected(set);
    let sum = |of: fn(&Counts) -> u64| libraries.iter().map(of).sum::<u64>();
    let relative = sum(|counts| counts.relative);
    let found = [
        ("imports of the program", expected.imports, program.imports),
        ("imports by ordinal", expected.by_ordinal, program.by_ordinal),
        (
            "imports between libraries",
            expected.cross,
            sum(|counts| counts.imports),
        ),
        (
            "relative relocations of the libraries",
            expected.relative.unwrap_or(relative),
            relative,
        ),
        (
            "symbolic references of the libraries",
            expected.symbolic,
            sum(|counts| counts.variables),
        ),
    ];
    let differences: Vec<_> = found
        .iter()
        .filter(|(_, expected, found)| expected != found)
        .map(|(what, expected, found)| format!("{what}: {found} found, {expected} asked for"))
        .collect();
    if differences.is_empty() {
        Ok(())
    } else {
        Err(differences)
    }
}
