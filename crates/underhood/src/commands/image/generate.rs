//! `underhood image generate`: a program and its libraries made to order, built here, and counted before anybody times them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use image::count::{self, Counts};
use image::generate::recipe::{self, Step};
use image::generate::{self, Format, Hash, Import, Linkage, Naming, References, Set, sources};
use record::format::image::{Document, File, SCHEMA};

use crate::context::{Context, write_whole};
use crate::exit::{CHECK_FAILED, COMMAND_FAILED, Done, Failure, INTERRUPTED, UNSUPPORTED};
use crate::progress::Progress;

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
    let steps = recipe::of(&set);
    find_linker(&set)?;
    make_folder(&args.out, args.force)?;
    for source in sources::of(&set) {
        write_whole(&args.out.join(&source.name), &source.text)?;
    }
    build(&args.out, &steps, context)?;
    let (program, libraries) = count_all(&args.out, &set)?;
    let counts: Vec<Counts> = libraries.iter().map(|(_, counts)| *counts).collect();
    let document = document(&set, &steps, &program, &libraries);
    let text = record::format::to_text(&document);
    write_whole(&args.out.join(MANIFEST), &text)?;
    generate::verify(&set, &program, &counts).map_err(|differences| {
        Failure::new(
            CHECK_FAILED,
            format!(
                "build what was asked for; {}; do not time it",
                differences.join("; ")
            ),
        )
    })?;
    starts(&args.out, &set, &program, &counts)?;
    let report = report::image::generated(&args.out.display().to_string(), &document);
    context.publish(&report, &text)?;
    Ok(Done::OK)
}

/// The compiler's own words about a linker that it does not find name another program.
fn find_linker(set: &Set) -> Result<(), Failure> {
    let Some(linker) = &set.linker else { return Ok(()) };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let name = format!("ld.{linker}");
    if std::env::split_paths(&path).any(|folder| folder.join(&name).is_file()) {
        return Ok(());
    }
    Err(Failure::new(
        UNSUPPORTED,
        format!(
            "find the linker {name}; on Debian: apt-get install {}",
            recipe::linker_package(linker)
        ),
    ))
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

fn build(folder: &Path, steps: &[Step], context: &Context) -> Result<(), Failure> {
    let progress = Progress::new(context.common.quiet);
    let start = std::time::Instant::now();
    for (done, step) in steps.iter().enumerate() {
        if os::signal::interrupted() {
            progress.finish();
            return Err(Failure::new(INTERRUPTED, "build the set: interrupted"));
        }
        let share = done as f64 / steps.len() as f64;
        let left = start.elapsed().mul_f64((1.0 - share) / share.max(0.01));
        progress.tell(share, left, &step.makes);
        let output = Command::new(&step.program)
            .args(&step.args)
            .current_dir(folder)
            .stdin(Stdio::null())
            .output();
        let output = output.map_err(|error| {
            progress.finish();
            Failure::new(
                UNSUPPORTED,
                format!(
                    "run {}: {error}; on Debian: apt-get install {}",
                    step.program,
                    recipe::package(&step.program)
                ),
            )
        })?;
        if !output.status.success() {
            progress.finish();
            let said = String::from_utf8_lossy(&output.stderr);
            let last: Vec<_> = said.lines().rev().take(3).collect();
            return Err(Failure::new(
                COMMAND_FAILED,
                format!(
                    "make {}: {} ended with {}: {}",
                    step.makes,
                    step.program,
                    output.status,
                    last.into_iter().rev().collect::<Vec<_>>().join(" / ")
                ),
            ));
        }
    }
    progress.finish();
    Ok(())
}

type Files = Vec<(String, Counts)>;

fn count_all(folder: &Path, set: &Set) -> Result<(Counts, Files), Failure> {
    let counted = |name: &str| {
        let failed = |why: String| Failure::new(CHECK_FAILED, format!("count {name}: {why}"));
        let bytes = std::fs::read(folder.join(name)).map_err(|error| failed(error.to_string()))?;
        count::count(&bytes).map_err(|error| failed(error.to_string()))
    };
    let program = counted(set.program_name())?;
    let mut libraries = Vec::new();
    if set.has_libraries() {
        for (base, _) in set.files() {
            let name = set.file_name(&base);
            let counts = counted(&name)?;
            libraries.push((name, counts));
        }
    }
    Ok((program, libraries))
}

/// A program that the loader refuses must not be timed: its quick end would look like a fast start.
fn starts(folder: &Path, set: &Set, program: &Counts, libraries: &[Counts]) -> Result<(), Failure> {
    if libraries
        .iter()
        .chain([program])
        .any(|counts| counts.relr_without_promise)
    {
        return Err(Failure::new(
            CHECK_FAILED,
            "use what was built: this linker packs relocations without asking for GLIBC_ABI_DT_RELR, and glibc refuses such files; \
             take --linker bfd",
        ));
    }
    if set.format != Set::default().format {
        return Ok(());
    }
    let path = std::path::absolute(folder.join(set.program_name()))?;
    let output = Command::new(&path).stdin(Stdio::null()).output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(Failure::new(
            CHECK_FAILED,
            format!(
                "start {}: {}: {}",
                path.display(),
                output.status,
                String::from_utf8_lossy(&output.stderr).trim()
            ),
        )),
        Err(error) => Err(Failure::new(
            CHECK_FAILED,
            format!("start {}: {error}", path.display()),
        )),
    }
}

fn document(set: &Set, steps: &[Step], program: &Counts, libraries: &[(String, Counts)]) -> Document {
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
        program: file(set.program_name(), program),
        files: libraries
            .iter()
            .map(|(name, counts)| file(name, counts))
            .collect(),
        commands: steps.iter().map(words).collect(),
    }
}
