//! What one file asks of the loader, in numbers and names.

use object::elf;

use super::relocations::{self, Counts};
use super::symbols::Symbols;
use super::view::lossy;
use super::{Image, Kind, Machine, Unreadable};

/// Which hash tables a file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashStyle {
    /// None: nothing can be found in it.
    None,
    /// The older one only: the loader compares names in libraries that do not have them.
    Sysv,
    /// The newer one only.
    Gnu,
    /// Both; the loader takes the newer one.
    Both,
}

impl HashStyle {
    /// As linkers call it (`--hash-style`).
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Sysv => "sysv",
            Self::Gnu => "gnu",
            Self::Both => "both",
        }
    }
}

/// How a file reaches thread-local variables, by its relocations. Several may be used at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TlsModels {
    /// A call for each access (`DTPMOD`).
    pub general_dynamic: bool,
    /// By a fixed distance, which takes room that is scarce for libraries loaded late (`TPOFF`, `DF_STATIC_TLS`).
    pub initial_exec: bool,
    /// By descriptors (`TLSDESC`).
    pub descriptors: bool,
}

/// What is in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The processor.
    pub machine: Machine,
    /// What it is to the loader.
    pub kind: Kind,
    /// Size of the file in bytes.
    pub size: u64,
    /// The loader that it asks for.
    pub interpreter: Option<String>,
    /// Its own name as a library.
    pub soname: Option<String>,
    /// The libraries that it names, in order.
    pub needed: Vec<String>,
    /// Where to search before `LD_LIBRARY_PATH`, also for what its libraries need.
    pub rpath: Option<String>,
    /// Where to search after `LD_LIBRARY_PATH`, for its own needs only.
    pub runpath: Option<String>,
    /// Libraries that it stands for (`DT_FILTER`, `DT_AUXILIARY`).
    pub filters: Vec<String>,
    /// All functions are bound at start.
    pub bind_now: bool,
    /// Its own symbols are searched in itself first.
    pub symbolic: bool,
    /// It is never unloaded.
    pub nodelete: bool,
    /// It needs a place near the thread pointer.
    pub static_tls: bool,
    /// The names of the bits of `DT_FLAGS_1`.
    pub flags_1: Vec<&'static str>,
    /// Its hash tables.
    pub hash: HashStyle,
    /// Dynamic symbols, the empty first one included.
    pub symbols: u64,
    /// Symbols that others can find in it.
    pub exports: u64,
    /// Among them, functions that choose an implementation at load time.
    pub ifuncs: u64,
    /// Symbols that it asks others for.
    pub imports: u64,
    /// Its relocations.
    pub relocations: Counts,
    /// Whether the loader has to write to its code.
    pub textrel: bool,
    /// The address that it asks for; 0 for any.
    pub base: u64,
    /// How many pieces of it are mapped.
    pub mappings: u64,
    /// Size of its thread-local variables in bytes, if it has any.
    pub tls: Option<u64>,
    /// How it reaches thread-local variables.
    pub tls_models: TlsModels,
    /// The identity that the linker gave it, hexadecimal.
    pub build_id: Option<String>,
}

impl Facts {
    /// What is in a file.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn of(image: &Image<'_>) -> Result<Self, Unreadable> {
        let dynamic = &image.dynamic;
        let mut budget = image.budget();
        let mut text = |offset: u64| {
            let text = image.text(offset);
            budget.spend(text.len() as u64)?;
            Ok::<_, Unreadable>(lossy(text))
        };
        let mut texts = |offsets: &[u64]| offsets.iter().map(|&at| text(at)).collect::<Result<_, _>>();
        let needed = texts(&dynamic.needed)?;
        let filters = texts(&dynamic.filters)?;
        let mut optional = |offset: Option<u64>| offset.map(&mut text).transpose();
        let (soname, rpath, runpath) = (
            optional(dynamic.soname)?,
            optional(dynamic.rpath)?,
            optional(dynamic.runpath)?,
        );
        let symbols = Symbols::read(image)?;
        let (mut exports, mut ifuncs, mut imports) = (0, 0, 0);
        for symbol in symbols.all(&mut budget)? {
            if symbol.is_export() {
                exports += 1;
                ifuncs += u64::from(symbol.ifunc);
            } else if symbol.is_import() {
                imports += 1;
            }
        }
        let relocations = relocations::count(image)?;
        Ok(Self {
            machine: image.machine(),
            kind: image.kind(),
            size: image.size(),
            interpreter: image.interpreter(),
            soname,
            needed,
            rpath,
            runpath,
            filters,
            bind_now: dynamic.bind_now,
            symbolic: dynamic.symbolic,
            nodelete: dynamic.flags_1 & elf::DF_1_NODELETE.0 != 0,
            static_tls: dynamic.static_tls,
            flags_1: flags_1(dynamic.flags_1),
            hash: match (dynamic.gnu_hash.is_some(), dynamic.hash.is_some()) {
                (true, true) => HashStyle::Both,
                (true, false) => HashStyle::Gnu,
                (false, true) => HashStyle::Sysv,
                (false, false) => HashStyle::None,
            },
            symbols: symbols.count().into(),
            exports,
            ifuncs,
            imports,
            textrel: image.has_textrel(),
            base: image.base(),
            mappings: image.mappings(),
            tls: image.tls(),
            tls_models: TlsModels {
                general_dynamic: relocations.tls_module > 0,
                initial_exec: relocations.tls_static > 0 || dynamic.static_tls,
                descriptors: relocations.tls_descriptor > 0,
            },
            build_id: image.build_id(),
            relocations,
        })
    }
}

/// The names of the bits of `DT_FLAGS_1` that mean something to a loader today.
fn flags_1(value: u64) -> Vec<&'static str> {
    [
        (elf::DF_1_NOW, "NOW"),
        (elf::DF_1_GLOBAL, "GLOBAL"),
        (elf::DF_1_NODELETE, "NODELETE"),
        (elf::DF_1_INITFIRST, "INITFIRST"),
        (elf::DF_1_NOOPEN, "NOOPEN"),
        (elf::DF_1_ORIGIN, "ORIGIN"),
        (elf::DF_1_INTERPOSE, "INTERPOSE"),
        (elf::DF_1_NODEFLIB, "NODEFLIB"),
        (elf::DF_1_PIE, "PIE"),
    ]
    .into_iter()
    .filter(|(flag, _)| value & flag.0 != 0)
    .map(|(_, name)| name)
    .collect()
}
