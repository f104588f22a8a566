//! What `ld.so` says that it does (`LD_DEBUG`), against what the model says that it would do. No program is run: the
//! loader is asked to list the libraries (`LD_TRACE_LOADED_OBJECTS`) and to bind everything (`LD_WARN`, `LD_BIND_NOW`).

use std::collections::BTreeMap;
use std::process::Command;
use std::rc::Rc;

use image::elf::closure::{self, Closure, Ending, Program, Role};
use image::elf::lookup::{How, Linker};
use image::elf::promises;
use image::elf::search::{File, Files, Loader, Opened, Reason};
use image::elf::{Image, Kind, Machine, Unreadable};

use crate::files::Disk;

pub const INTERPRETER: &str = "/lib64/ld-linux-x86-64.so.2";

/// Programs of a Debian system that are likely to be there.
const PROGRAMS: &str = "\
    python3 git perl gcc gdb vim bash ssh curl readelf objdump make node gpg tar openssl sqlite3 dpkg \
    apt ls cp grep sed gawk mawk find xargs sort tail ld as g++ cpp ar nm strip less man nano wget scp \
    sftp ssh-keygen tmux screen rsync zip unzip xz zstd bzip2 diff patch file ip ps top login systemctl \
    journalctl udevadm lsblk fdisk clang lldb ffmpeg convert psql mysql ruby php lua5.4 java qemu-x86_64 \
    strace ltrace perf tcpdump nmap dig gs pdftotext cat mv rm ln chmod date dd df du head wc tee who \
    stat env mount lsof getconf iconv locale getent dash";

/// The loader of this machine.
pub fn loader() -> Loader {
    let output = Command::new(INTERPRETER)
        .arg("--list-diagnostics")
        .env_clear()
        .output()
        .unwrap();
    let mut loader = Loader::of_diagnostics(Machine::X86_64, &String::from_utf8_lossy(&output.stdout));
    loader.cache = image::elf::cache::Cache::new(std::fs::read("/etc/ld.so.cache").unwrap_or_default());
    loader
}

/// A program that is not on the disk, with the libraries that are.
pub fn load_bytes(bytes: Vec<u8>) -> Result<Closure, Unreadable> {
    load_from(bytes, &Disk)
}

/// The same with other files than those of the disk.
pub fn load_from(bytes: Vec<u8>, files: &dyn Files) -> Result<Closure, Unreadable> {
    let file = File {
        identity: (0, 0),
        bytes: Rc::new(bytes),
        setuid: false,
    };
    let program = Program {
        path: "damaged".to_owned(),
        origin: "/".to_owned(),
        file,
        interpreter: INTERPRETER.to_owned(),
    };
    closure::load(program, &Loader::new(Machine::X86_64), files)
}

pub fn load(path: &str, loader: &Loader) -> Closure {
    let Opened::File(file) = Disk.open(path) else {
        panic!("{path}")
    };
    let origin = std::fs::canonicalize(path).unwrap();
    let program = Program {
        path: path.to_owned(),
        origin: origin.parent().unwrap().to_string_lossy().into_owned(),
        file,
        interpreter: INTERPRETER.to_owned(),
    };
    closure::load(program, loader, &Disk).unwrap()
}

/// The programs of the list that are here, are dynamic, and are for this machine.
fn programs() -> Vec<String> {
    let folders = ["/usr/bin", "/usr/local/bin", "/usr/sbin"];
    let mut found = Vec::new();
    for name in PROGRAMS.split_whitespace() {
        let path = folders
            .iter()
            .map(|folder| format!("{folder}/{name}"))
            .find(|path| {
                let Ok(bytes) = std::fs::read(path) else {
                    return false;
                };
                Image::parse(&bytes).is_ok_and(|image| {
                    image.machine() == Machine::X86_64 && matches!(image.kind(), Kind::Program | Kind::Pie)
                })
            });
        found.extend(path);
    }
    found
}

/// What the loader wrote, line by line without the process's number.
fn debug(program: &str, environment: &[(&str, &str)]) -> Vec<String> {
    let output = Command::new(program)
        .env_clear()
        .env("LD_TRACE_LOADED_OBJECTS", "1")
        .env("LD_WARN", "yes")
        .env("LD_BIND_NOW", "1")
        .env("LD_DEBUG", "libs,files,bindings")
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    let text =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    text.lines()
        .map(|line| match line.split_once(':') {
            Some((number, rest)) if number.trim().parse::<u32>().is_ok() => {
                rest.trim_start_matches('\t').to_owned()
            }
            _ => line.to_owned(),
        })
        .collect()
}

/// The searches: each name with the places that were tried, "cache" before what the cache was asked for.
fn searches_said(lines: &[String]) -> Vec<(String, Vec<String>)> {
    let mut searches: Vec<(String, Vec<String>)> = Vec::new();
    for line in lines {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("find library=") {
            let name = rest.split(" [").next().unwrap();
            searches.push((name.to_owned(), Vec::new()));
        } else if let Some(path) = line.strip_prefix("trying file=") {
            searches.last_mut().unwrap().1.push(path.to_owned());
        }
    }
    searches
}

fn searches_modelled(closure: &Closure) -> Vec<(String, Vec<String>)> {
    closure
        .searches
        .iter()
        .filter(|search| !matches!(search.ending, Ending::Known(_)) && !search.name.contains('/'))
        .map(|search| {
            let places = search.places.iter().filter(|place| place.reason != Reason::Path);
            (
                search.name.clone(),
                places.map(|place| place.path.clone()).collect(),
            )
        })
        .collect()
}

/// The objects in the order in which their link maps were made.
fn loaded_said(lines: &[String]) -> Vec<String> {
    lines
        .iter()
        .filter_map(|line| line.trim().strip_prefix("file="))
        .filter(|rest| rest.contains("generating link map"))
        .map(|rest| rest.split(" [").next().unwrap().to_owned())
        .collect()
}

type Bindings = BTreeMap<(String, String, String, String), usize>;

fn bindings_said(lines: &[String]) -> Bindings {
    let mut bindings = Bindings::new();
    for line in lines {
        let Some(rest) = line.trim().strip_prefix("binding file ") else {
            continue;
        };
        let (from, rest) = rest.split_once(" [0] to ").unwrap();
        let (to, rest) = rest.split_once(" [0]: ").unwrap();
        let (_, symbol) = rest.split_once(" symbol `").unwrap();
        let (name, version) = symbol.split_once('\'').unwrap();
        let version = version.trim().trim_matches(['[', ']']);
        // The loader's own lookups in the kernel's page.
        if from.starts_with("linux-vdso") {
            continue;
        }
        let key = [from, to, name, version].map(str::to_owned).into();
        *bindings.entry(key).or_default() += 1;
    }
    bindings
}

fn bindings_modelled(closure: &Closure) -> (Bindings, Vec<String>) {
    let linker = Linker::new(closure).unwrap();
    let mut bindings = Bindings::new();
    let mut missing = Vec::new();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    linker
        .resolve(&mut |resolution| {
            let from = &closure.objects[resolution.object];
            if resolution.how != How::Searched || from.role == Role::Loader {
                return;
            }
            match resolution.target {
                Some(target) => {
                    let to = closure.objects[target.object].path.clone();
                    let version = resolution.version.map(text).unwrap_or_default();
                    let key = (from.path.clone(), to, text(resolution.name), version);
                    *bindings.entry(key).or_default() += 1;
                }
                None if !resolution.weak => missing.push(text(resolution.name)),
                None => {}
            }
        })
        .unwrap();
    (bindings, missing)
}

/// Compares one program; returns the number of bindings and of tried places.
pub fn agree(path: &str, environment: &[(&str, &str)], loader: &Loader) -> (usize, usize) {
    let said = debug(path, environment);
    let mut loader = loader.clone();
    loader.bind_now = true;
    for (name, value) in environment {
        match *name {
            "LD_LIBRARY_PATH" => loader.library_path = Some((*value).to_owned()),
            "LD_PRELOAD" => loader.preload = value.split([' ', ':']).map(str::to_owned).collect(),
            other => panic!("{other}"),
        }
    }
    let closure = load(path, &loader);
    assert_eq!(closure.notes, Vec::<String>::new(), "{path}");
    let (searches, expected) = (searches_modelled(&closure), searches_said(&said));
    assert_eq!(searches, expected, "{path}: searches");
    let loaded: Vec<String> = closure
        .searches
        .iter()
        .filter(|search| matches!(search.ending, Ending::Loaded(_)))
        .map(|search| search.name.clone())
        .collect();
    assert_eq!(loaded, loaded_said(&said), "{path}: order of loading");
    let broken = promises::broken(&closure, &Linker::new(&closure).unwrap());
    assert_eq!(broken, Vec::<String>::new(), "{path}");
    let (bindings, missing) = bindings_modelled(&closure);
    let expected = bindings_said(&said);
    let differences: Vec<String> = bindings
        .iter()
        .filter(|(key, count)| expected.get(*key) != Some(*count))
        .map(|(key, count)| format!("modelled {count} × {key:?}"))
        .chain(
            expected
                .iter()
                .filter(|(key, count)| bindings.get(*key) != Some(*count))
                .map(|(key, count)| format!("said {count} × {key:?}")),
        )
        .take(20)
        .collect();
    assert!(differences.is_empty(), "{path}: {differences:#?}");
    let undefined = said
        .iter()
        .filter(|line| line.trim().starts_with("undefined symbol:"))
        .count();
    assert_eq!(missing.len(), undefined, "{path}: {missing:?}");
    let places = searches.iter().map(|(_, places)| places.len()).sum();
    (bindings.values().sum(), places)
}

#[test]
fn closures_and_bindings_are_those_of_the_loader() {
    let loader = loader();
    let programs = programs();
    let mut bindings = 0;
    for program in &programs {
        bindings += agree(program, &[], &loader).0;
    }
    println!("{} programs agree, {bindings} bindings", programs.len());
    for name in ["python3", "git", "perl", "gcc", "gdb", "vim"] {
        if !programs
            .iter()
            .any(|program| program.ends_with(&format!("/{name}")))
        {
            println!("SKIPPED in part: {name} is not installed");
        }
    }
    assert!(
        programs.len() >= 30,
        "only {} programs: {programs:?}",
        programs.len()
    );
}

#[test]
fn wishes_of_the_user_are_followed_as_the_loader_does() {
    let loader = loader();
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().to_str().unwrap();
    // A folder with subfolders for the processor, a copy of a library, a library of another machine, and nothing.
    let level = format!("{here}/glibc-hwcaps/x86-64-v2");
    std::fs::create_dir_all(&level).unwrap();
    std::fs::create_dir_all(format!("{here}/tls")).unwrap();
    std::fs::copy("/lib/x86_64-linux-gnu/libm.so.6", format!("{level}/libm.so.6")).unwrap();
    let mut other = std::fs::read("/lib/x86_64-linux-gnu/libm.so.6").unwrap();
    other[18] = 40;
    std::fs::write(format!("{here}/libm.so.6"), other).unwrap();
    let path = format!("{here}/nothing:{here}:/lib/x86_64-linux-gnu/;relative:/usr/lib/");
    let mut places = 0;
    for program in ["/usr/bin/perl", "/usr/bin/vim", "/usr/bin/gdb", "/usr/bin/bash"] {
        if !std::path::Path::new(program).exists() {
            continue;
        }
        places += agree(program, &[("LD_LIBRARY_PATH", &path)], &loader).1;
        let preload = "libm.so.6 /lib/x86_64-linux-gnu/libresolv.so.2:libm.so.6";
        agree(program, &[("LD_PRELOAD", preload)], &loader);
        agree(
            program,
            &[("LD_PRELOAD", preload), ("LD_LIBRARY_PATH", &path)],
            &loader,
        );
    }
    assert!(places > 100, "{places} places");
}
