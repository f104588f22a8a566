//! Slots that the guard writes when the loader comes to the program, and copies that pass for their originals.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use image::elf::guard::{Fill, Floating, Plan, Renamed, fill, places};
use object::LittleEndian as LE;
use object::elf;
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection, ObjectSymbol, ObjectSymbolTable};
use tempfile::TempDir;

use crate::support::{
    BASE, LOADER, compile, dynamic_address, folder, identity, plan, symbol, template, text, write_program,
};

const LIBC: &str = "/lib/x86_64-linux-gnu/libc.so.6";
const LIBM: &str = "/lib/x86_64-linux-gnu/libm.so.6";

/// The functions that are called through slots of the guard's; of each there is one version.
const FILLED: [&str; 6] = ["strlen", "memset", "printf", "sin", "cbrt", "dladdr"];

/// A program that calls a library of its own, and both again as copies.
struct Bound {
    folder: TempDir,
    original: PathBuf,
    copy: PathBuf,
    guard: PathBuf,
    plan: Plan,
}

impl Bound {
    fn new() -> Self {
        let folder = folder();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("lib")).unwrap();
        fs::create_dir(at("copies")).unwrap();
        compile(
            "own.c",
            &at("lib/libown.so"),
            &["-shared", "-fpic", "-Wl,-soname,libown.so"],
        );
        fs::copy(at("lib/libown.so"), at("copies/libown.so")).unwrap();
        symlink(at("lib/libown.so"), at("link.so")).unwrap();
        let build = |to: &Path, libraries: &Path, loader: &str| {
            let flags = [
                "-no-pie".to_owned(),
                "-fno-plt".into(),
                "-fno-builtin".into(),
                "-Wl,-z,now".into(),
                format!("-L{}", libraries.display()),
                format!("-Wl,-rpath,{}", libraries.display()),
                format!("-Wl,--dynamic-linker={loader}"),
                "-lown".into(),
                "-lm".into(),
            ];
            compile("calls.c", to, &flags.each_ref().map(|flag| &**flag));
        };
        build(&at("original"), &at("lib"), LOADER);
        build(&at("copy"), &at("copies"), &at("guard").display().to_string());
        let (original, copy, guard) = (at("original"), at("copy"), at("guard"));
        let mut plan = plan(&original, &copy);
        plan.fills = vec![bind(&copy)];
        let file = identity(&copy);
        plan.watched.iter_mut().for_each(|(path, identity)| {
            if Path::new(path) == copy {
                *identity = file;
            }
        });
        let name = |path: &Path| path.display().to_string();
        let object = |path: &Path, names: &[String]| Floating {
            names: names.to_vec(),
            dynamic: dynamic_address(path),
        };
        plan.floating = vec![
            object(Path::new(LIBC), &["/elsewhere/libc.so.6".into(), LIBC.into()]),
            object(Path::new(LIBM), &[LIBM.into()]),
            object(Path::new(LOADER), &[name(&guard)]),
        ];
        let (own, own_copy) = (at("lib/libown.so"), at("copies/libown.so"));
        plan.renamed = vec![
            Renamed {
                copy: name(&own_copy),
                original: name(&own),
                identities: Some((identity(&own_copy), identity(&own))),
            },
            Renamed {
                copy: name(&guard),
                original: LOADER.into(),
                identities: None,
            },
        ];
        Self {
            folder,
            original,
            copy,
            guard,
            plan,
        }
    }

    fn fill(&self) {
        write_program(&self.guard, &fill(template(), BASE, &self.plan).unwrap().bytes);
    }

    fn run(&self, program: &Path) -> Output {
        let library = |name: &str| self.folder.path().join(name);
        Command::new(program)
            .args([library("lib/libown.so"), library("link.so")])
            .env_clear()
            .output()
            .unwrap()
    }
}

/// Takes the relocations of the functions in [`FILLED`] from a program, in place of the first the stub, and tells what
/// is to be written.
fn bind(program: &Path) -> Vec<Fill> {
    let mut bytes = fs::read(program).unwrap();
    let places = places(template(), BASE).unwrap();
    let mut fills = Vec::new();
    let mut relocations = Vec::new();
    {
        let file = ElfFile64::<LE>::parse(&*bytes).unwrap();
        let symbols = file.dynamic_symbol_table().unwrap();
        for section in file
            .sections()
            .filter(|section| section.name().unwrap().starts_with(".rela"))
        {
            let (offset, size) = section.file_range().unwrap();
            for at in (offset as usize..(offset + size) as usize).step_by(24) {
                let word =
                    |index: usize| u64::from_le_bytes(bytes[at + 8 * index..][..8].try_into().unwrap());
                let index = object::SymbolIndex((word(1) >> 32) as usize);
                let kind = word(1) as u32;
                if kind != elf::R_X86_64_GLOB_DAT.0 && kind != elf::R_X86_64_JUMP_SLOT.0 {
                    continue;
                }
                let name = symbols.symbol_by_index(index).unwrap().name().unwrap().to_owned();
                if !FILLED.contains(&&*name) {
                    continue;
                }
                let (floating, (value, ifunc)) = symbol(Path::new(LIBC), &name)
                    .map(|symbol| (0, symbol))
                    .or_else(|| Some((1, symbol(Path::new(LIBM), &name)?)))
                    .unwrap();
                fills.push(Fill {
                    slot: word(0),
                    floating,
                    value,
                    ifunc,
                });
                relocations.push(at);
            }
        }
    }
    assert_eq!(fills.len(), FILLED.len(), "{fills:x?}");
    assert!(fills.iter().filter(|fill| fill.ifunc).count() >= 3, "{fills:x?}");
    for (number, at) in relocations.into_iter().enumerate() {
        let relocation = if number == 0 {
            [
                places.scratch,
                elf::R_X86_64_IRELATIVE.0.into(),
                places.stub(0).unwrap(),
            ]
        } else {
            [0, elf::R_X86_64_NONE.0.into(), 0]
        };
        let relocation = relocation.map(u64::to_le_bytes);
        bytes[at..at + 24].copy_from_slice(relocation.as_flattened());
    }
    write_program(program, &bytes);
    fills
}

#[test]
fn functions_work_and_copies_pass_for_their_originals() {
    let bound = Bound::new();
    bound.fill();
    let (guarded, stock) = (bound.run(&bound.copy), bound.run(&bound.original));
    assert!(
        stock.status.success() && guarded.status.success(),
        "{stock:?}\n{guarded:?}"
    );
    assert_eq!(text(&guarded.stdout), text(&stock.stdout));
    let said = text(&guarded.stdout);
    assert!(
        said.starts_with("3 20 0.909297426826 1.259921049895 1\n"),
        "{said}"
    );
    assert!(said.contains("dlopen 1 2\ndlopen 1 3\n"), "{said}");
}

/// What is not renamed shows that the test above sees a difference.
#[test]
fn without_renaming_the_copies_are_seen() {
    let mut bound = Bound::new();
    bound.plan.renamed.clear();
    bound.fill();
    let said = text(&bound.run(&bound.copy).stdout);
    assert!(said.contains("copies/libown.so\n"), "{said}");
    assert!(said.contains("dlopen 0 1\n"), "{said}");
}

#[test]
fn it_refuses_to_run_on_without_an_address() {
    for change in [
        (|plan| plan.floating[1].names = vec!["/other/libm.so.6".into()]) as fn(&mut Plan),
        |plan| plan.floating[1].dynamic += 16,
        |plan| {
            plan.floating.push(Floating {
                names: vec!["/other/libm.so.6".into()],
                dynamic: 0,
            })
        },
    ] {
        let mut bound = Bound::new();
        change(&mut bound.plan);
        bound.fill();
        let output = bound.run(&bound.copy);
        assert_eq!(output.status.code(), Some(127), "{output:?}");
        let said = text(&output.stderr);
        assert!(
            said.contains("libm.so.6 is not among those that were loaded"),
            "{said}"
        );
    }
}

#[test]
fn under_the_loaders_own_ways_to_run() {
    let bound = Bound::new();
    bound.fill();
    for (name, value) in [
        ("LD_BIND_NOW", "1"),
        ("LD_DEBUG", "all"),
        ("LD_TRACE_LOADED_OBJECTS", "1"),
    ] {
        let output = Command::new(&bound.copy)
            .env_clear()
            .env(name, value)
            .output()
            .unwrap();
        assert!(output.status.success(), "{name}: {output:?}");
    }
    let output = Command::new(&bound.copy)
        .env_clear()
        .envs([
            ("LD_TRACE_LOADED_OBJECTS", "1"),
            ("LD_WARN", "1"),
            ("LD_BIND_NOW", "1"),
        ])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}
