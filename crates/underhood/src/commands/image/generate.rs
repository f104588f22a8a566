//! `underhood image generate`: a program and its libraries made to order, built here, and counted before anybody times them.

use std::path::{Path, PathBuf};

use image::count::Counts;
use image::generate::recipe::Step;
use image::generate::{Format, Hash, Import, Linkage, Naming, References, Set};
use record::format::image::{Document, File, SCHEMA};

use crate::context::{Context, write_whole};
use crate::exit::{Done, Failure};
use crate::progress::Progress;
use crate::set_builder::{self, Made};

/// The record of what was made, in the folder.
const MANIFEST: &str = "manifest.json";

/// Arguments of `image generate`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder; made when it does not exist
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Write into a folder that is not empty; what stands there and is not of the set stays
    #[arg(long)]
    force: bool,
    /// Number of libraries
    #[arg(long, value_name = "N", default_value_t = 10)]
    libs: u32,
    /// Functions that each library exports and the program imports
    #[arg(long, value_name = "N", default_value_t = 100)]
    functions: u32,
    /// References to global variables, a function
    #[arg(long, value_name = "N", default_value_t = 5)]
    globals: u32,
    /// Format of the files; this system's without it
    #[arg(long, value_name = "FORMAT", value_parser = ["elf", "pe"])]
    format: Option<String>,
    /// How the program names what it imports; ordinal is PE's
    #[arg(long, value_name = "HOW", default_value = "name", value_parser = ["name", "ordinal"])]
    import: String,
    /// c, or cxx:LENGTH for decorated names of that length
    #[arg(long, value_name = "KIND", default_value = "c", value_parser = naming)]
    names: Naming,
    /// What a reference is: an entry of a pointer table, a store in code, or a symbol
    #[arg(long, value_name = "KIND", default_value = "table", value_parser = ["table", "code", "symbol"])]
    refs: String,
    /// So many functions of each library call one of the library before it
    #[arg(long, value_name = "K", default_value_t = 0)]
    cross: u32,
    /// Hash tables (ELF)
    #[arg(long, value_name = "STYLE", default_value = "gnu", value_parser = ["gnu", "sysv", "both"])]
    hash: String,
    /// When functions are bound (ELF)
    #[arg(long, value_name = "WHEN", default_value = "lazy", value_parser = ["lazy", "now"])]
    bind: String,
    /// Libraries bind their own symbols to themselves (ELF)
    #[arg(long)]
    symbolic: bool,
    /// Pack relative relocations (ELF)
    #[arg(long)]
    relr: bool,
    /// Visibility of the exported symbols (ELF)
    #[arg(long, value_name = "KIND", default_value = "default", value_parser = ["default", "protected"])]
    visibility: String,
    /// Call through pointers instead of a linkage table (ELF)
    #[arg(long)]
    no_plt: bool,
    /// The linker (ELF): bfd, gold, lld, mold; the compiler's own without it
    #[arg(long, value_name = "NAME", value_parser = ["bfd", "gold", "lld", "mold"])]
    linker: Option<String>,
    /// No libraries, all in a program at a fixed address (ELF)
    #[arg(long = "static", conflicts_with_all = ["static_pie", "merged"])]
    fixed: bool,
    /// No libraries, all in a program that relocates itself (ELF)
    #[arg(long, conflicts_with = "merged")]
    static_pie: bool,
    /// One library with everything
    #[arg(long)]
    merged: bool,
    /// Alignment in bytes: of segments in memory (ELF), of sections in the file (PE)
    #[arg(long, value_name = "BYTES")]
    align: Option<u64>,
    /// Addresses that the libraries ask for: all the same, or one range each
    #[arg(long, value_name = "HOW", default_value = "shared", value_parser = ["shared", "distinct"])]
    base: String,
}

fn naming(text: &str) -> Result<Naming, String> {
    match text.strip_prefix("cxx:").map(str::parse) {
        _ if text == "c" => Ok(Naming::C),
        Some(Ok(length)) => Ok(Naming::Cxx(length)),
        _ => Err("there are c, and cxx:LENGTH such as cxx:60".to_owned()),
    }
}

fn set_of(args: &Args) -> Set {
    let default = Set::default();
    Set {
        format: match args.format.as_deref() {
            Some("pe") => Format::Pe,
            Some(_) => Format::Elf,
            None => default.format,
        },
        libraries: args.libs,
        functions: args.functions,
        globals: args.globals,
        references: match args.refs.as_str() {
            "code" => References::Code,
            "symbol" => References::Symbol,
            _ => References::Table,
        },
        import: if args.import == "ordinal" {
            Import::Ordinal
        } else {
            Import::Name
        },
        naming: args.names,
        cross: args.cross,
        linkage: match (args.fixed, args.static_pie, args.merged) {
            (true, ..) => Linkage::Static,
            (_, true, _) => Linkage::StaticPie,
            (.., true) => Linkage::Merged,
            _ => Linkage::Dynamic,
        },
        hash: match args.hash.as_str() {
            "sysv" => Hash::Sysv,
            "both" => Hash::Both,
            _ => Hash::Gnu,
        },
        now: args.bind == "now",
        symbolic: args.symbolic,
        relr: args.relr,
        protected: args.visibility == "protected",
        no_plt: args.no_plt,
        linker: args.linker.clone(),
        align: args.align,
        distinct_bases: args.base == "distinct",
    }
}

/// Runs the command.
pub fn run(args: &Args, context: &Context) -> Result<Done, Failure> {
    let set = set_of(args);
    set.check()
        .map_err(|refused| Failure::usage(format!("generate this set: {refused}")))?;
    set_builder::find_linker(&set)?;
    make_folder(&args.out, args.force)?;
    let progress = Progress::new(context.common.quiet);
    let start = std::time::Instant::now();
    let made = set_builder::make(&args.out, &set, &mut |share, what| {
        let left = start.elapsed().mul_f64((1.0 - share) / share.max(0.01));
        progress.tell(share, left, what);
    });
    progress.finish();
    let made = made?;
    let document = document(&set, &made);
    let text = record::format::to_text(&document);
    write_whole(&args.out.join(MANIFEST), &text)?;
    set_builder::verify(&args.out, &set, &made)?;
    let report = report::image::generated(&args.out.display().to_string(), &document);
    context.publish(&report, &text)?;
    Ok(Done::OK)
}

fn make_folder(folder: &Path, force: bool) -> Result<(), Failure> {
    let failed =
        |why: &dyn std::fmt::Display| Failure::usage(format!("use the folder {}: {why}", folder.display()));
    std::fs::create_dir_all(folder).map_err(|error| failed(&error))?;
    let mut entries = std::fs::read_dir(folder).map_err(|error| failed(&error))?;
    if entries.next().is_some() && !force {
        return Err(failed(
            &"it is not empty; name another, or give --force, which overwrites files of the set and leaves all others",
        ));
    }
    Ok(())
}

fn document(set: &Set, made: &Made) -> Document {
    let file = |name: &str, counts: &Counts| File {
        file: name.to_owned(),
        imports: counts.imports,
        imports_by_ordinal: counts.by_ordinal,
        other_imports: counts.other_imports,
        relative_relocations: counts.relative,
        symbol_references: counts.variables,
        base: format!("{:#x}", counts.base),
    };
    let words = |step: &Step| {
        std::iter::once(&step.program)
            .chain(&step.args)
            .cloned()
            .collect()
    };
    Document {
        schema: SCHEMA.to_owned(),
        libraries: set.libraries,
        functions: set.functions,
        globals: set.globals,
        program: file(set.program_name(), &made.program),
        files: made
            .libraries
            .iter()
            .map(|(name, counts)| file(name, counts))
            .collect(),
        commands: made.steps.iter().map(words).collect(),
    }
}
