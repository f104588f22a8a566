//! The rules of the search, one by one, on a file system made for them (ld.so(8), glibc `elf/dl-load.c`).

use std::rc::Rc;

use image::elf::Machine;
use image::elf::cache::Cache;
use image::elf::closure::{self, Closure, Ending, Program};
use image::elf::search::{File, Loader, Outcome, Reason};

use crate::fake::{Library, NODEFLIB, PIE, Table, needs};

fn load(program: &Library, loader: &Loader, files: Table) -> Closure {
    let program = Program {
        path: "/opt/a/bin/program".to_owned(),
        origin: "/opt/a/bin".to_owned(),
        file: File {
            identity: (1, 0),
            bytes: Rc::new(program.bytes()),
            setuid: false,
        },
        interpreter: "/lib64/ld.so".to_owned(),
    };
    closure::load(program, loader, &files.with("/lib64/ld.so", &Library::default())).unwrap()
}

fn plain() -> Loader {
    Loader {
        system_dirs: vec!["/lib".to_owned(), "/usr/lib".to_owned()],
        ..Loader::new(Machine::X86_64)
    }
}

/// The paths of all objects but the program and the loader.
fn loaded(closure: &Closure) -> Vec<&str> {
    closure
        .objects
        .iter()
        .skip(2)
        .map(|object| object.path.as_str())
        .collect()
}

fn tried(closure: &Closure, search: usize) -> Vec<&str> {
    closure.searches[search]
        .places
        .iter()
        .map(|place| place.path.as_str())
        .collect()
}

#[test]
fn a_rpath_is_inherited_and_a_runpath_is_not() {
    let files = || {
        Table::default()
            .with("/x/liba.so", &needs(&["libb.so"]))
            .with("/x/libb.so", &Library::default())
    };
    let by_rpath = Library {
        rpath: Some("/x"),
        ..needs(&["liba.so"])
    };
    assert_eq!(
        loaded(&load(&by_rpath, &plain(), files())),
        ["/x/liba.so", "/x/libb.so"]
    );
    let by_runpath = Library {
        runpath: Some("/x"),
        ..needs(&["liba.so"])
    };
    let closure = load(&by_runpath, &plain(), files());
    assert_eq!(loaded(&closure), ["/x/liba.so"]);
    assert_eq!(closure.searches[1].ending, Ending::Missing);
    assert_eq!(tried(&closure, 1), ["/lib/libb.so", "/usr/lib/libb.so"]);
    // A runpath beside it annuls a rpath, and one of the library keeps the program's rpath from being asked.
    let both = Library {
        runpath: Some("/y"),
        ..by_rpath.clone()
    };
    assert_eq!(loaded(&load(&both, &plain(), files())), [""; 0]);
    let library = Library {
        runpath: Some("/z"),
        ..needs(&["libb.so"])
    };
    let closure = load(&by_rpath, &plain(), files().with("/x/liba.so", &library));
    assert_eq!(loaded(&closure), ["/x/liba.so"]);
}

#[test]
fn the_users_path_stands_between_rpath_and_runpath() {
    let files = || {
        Table::default()
            .with("/x/liba.so", &Library::default())
            .with("/user/liba.so", &Library::default())
    };
    let loader = Loader {
        library_path: Some("/user;/none".to_owned()),
        ..plain()
    };
    let rpath = Library {
        rpath: Some("/x"),
        ..needs(&["liba.so"])
    };
    let runpath = Library {
        runpath: Some("/x"),
        ..needs(&["liba.so"])
    };
    assert_eq!(loaded(&load(&rpath, &loader, files())), ["/x/liba.so"]);
    assert_eq!(loaded(&load(&runpath, &loader, files())), ["/user/liba.so"]);
    let secure = Loader {
        secure: true,
        ..loader
    };
    assert_eq!(loaded(&load(&runpath, &secure, files())), ["/x/liba.so"]);
}

#[test]
fn tokens_stand_for_the_place_of_the_file_that_uses_them() {
    let program = Library {
        runpath: Some("$ORIGIN/../$LIB:/p/${PLATFORM}"),
        ..needs(&["liba.so"])
    };
    let library = Library {
        runpath: Some("$ORIGIN/more"),
        ..needs(&["libb.so", "$ORIGIN/libc.so"])
    };
    let files = Table::default()
        .with("/opt/a/bin/../lib/x86_64-linux-gnu/liba.so", &library)
        .with(
            "/opt/a/bin/../lib/x86_64-linux-gnu/more/libb.so",
            &Library::default(),
        )
        .with("/opt/a/bin/../lib/x86_64-linux-gnu/libc.so", &Library::default());
    let closure = load(&program, &plain(), files);
    let folder = "/opt/a/bin/../lib/x86_64-linux-gnu";
    assert_eq!(
        loaded(&closure),
        [
            format!("{folder}/liba.so"),
            format!("{folder}/more/libb.so"),
            format!("{folder}/libc.so")
        ]
    );
    // A privileged program uses no folder that whoever links it elsewhere could choose.
    let secure = Loader {
        secure: true,
        ..plain()
    };
    let closure = load(&program, &secure, Table::default());
    assert_eq!(
        tried(&closure, 0),
        ["/p/x86_64/liba.so", "/lib/liba.so", "/usr/lib/liba.so"]
    );
}

#[test]
fn folders_for_the_processor_come_first_and_absent_ones_are_remembered() {
    let mut loader = Loader {
        library_path: Some("/user:/gone:rel".to_owned()),
        ..plain()
    };
    loader.hardware.levels = vec!["x86-64-v3".to_owned(), "x86-64-v2".to_owned()];
    loader.older_names = vec!["tls".to_owned(), "x86_64".to_owned()];
    let files = Table::default()
        .with("/user/glibc-hwcaps/x86-64-v2/liba.so", &Library::default())
        .with("/user/libb.so", &Library::default())
        .folder("/user/tls");
    let closure = load(&needs(&["liba.so", "libb.so", "libc.so"]), &loader, files);
    assert_eq!(
        loaded(&closure),
        ["/user/glibc-hwcaps/x86-64-v2/liba.so", "/user/libb.so"]
    );
    assert_eq!(
        tried(&closure, 0),
        [
            "/user/glibc-hwcaps/x86-64-v3/liba.so",
            "/user/glibc-hwcaps/x86-64-v2/liba.so"
        ]
    );
    // The level that was not there is not asked again; the folder that is there is.
    assert_eq!(
        tried(&closure, 1),
        [
            "/user/glibc-hwcaps/x86-64-v2/libb.so",
            "/user/tls/x86_64/libb.so",
            "/user/tls/libb.so",
            "/user/x86_64/libb.so",
            "/user/libb.so",
        ]
    );
    let third = tried(&closure, 2);
    assert_eq!(
        third[..3],
        [
            "/user/glibc-hwcaps/x86-64-v2/libc.so",
            "/user/tls/libc.so",
            "/user/libc.so"
        ]
    );
    // Relative folders are asked each time, in all forms.
    assert!(third.contains(&"rel/glibc-hwcaps/x86-64-v3/libc.so") && third.contains(&"rel/libc.so"));
    assert!(closure.searches[1].places[1].asked_folder);
}

#[test]
fn a_file_for_another_processor_is_passed_over_and_a_broken_one_is_not() {
    let loader = Loader {
        library_path: Some("/one:/two".to_owned()),
        ..plain()
    };
    let foreign = Library {
        machine: Some(183),
        ..Library::default()
    };
    let files = Table::default()
        .with("/one/liba.so", &foreign)
        .with("/two/liba.so", &Library::default())
        .with_bytes("/one/libb.so", b"no library")
        .with("/two/libb.so", &Library::default());
    let closure = load(&needs(&["liba.so", "libb.so"]), &loader, files);
    assert_eq!(loaded(&closure), ["/two/liba.so"]);
    assert_eq!(closure.searches[0].places[0].outcome, Outcome::OtherMachine);
    assert!(matches!(closure.searches[1].ending, Ending::Refused(_)));
}

#[test]
fn a_library_is_known_by_each_of_its_names_and_by_its_file() {
    let named = Library {
        soname: Some("libreal.so.1"),
        ..Library::default()
    };
    let files = Table::default()
        .with("/lib/liba.so", &named)
        .alias("/usr/lib/libother.so", "/lib/liba.so");
    let program = needs(&["liba.so", "libreal.so.1", "/lib/liba.so", "libother.so", "ld.so"]);
    let files = files.with("/lib/ld.so", &Library::default());
    let closure = load(&program, &plain(), files);
    let endings: Vec<_> = closure
        .searches
        .iter()
        .map(|search| search.ending.clone())
        .collect();
    assert_eq!(
        endings,
        [
            Ending::Loaded(2),
            Ending::Known(2),
            Ending::Known(2),
            Ending::SameFile(2),
            // Another file than the loader itself, whose name is a path.
            Ending::Loaded(3),
        ]
    );
    assert_eq!(closure.scope, [0, 2, 3]);
}

#[test]
fn breadth_comes_before_depth_and_preloaded_libraries_before_both() {
    let files = Table::default()
        .with("/lib/liba.so", &needs(&["libc.so", "libb.so"]))
        .with("/lib/libb.so", &needs(&["libd.so"]))
        .with("/lib/libc.so", &Library::default())
        .with("/lib/libd.so", &Library::default())
        .with("/pre/libp.so", &needs(&["libd.so"]));
    let loader = Loader {
        preload: vec!["/pre/libp.so".to_owned(), "libb.so".to_owned()],
        ..plain()
    };
    let closure = load(&needs(&["liba.so", "libb.so"]), &loader, files);
    assert_eq!(
        loaded(&closure),
        [
            "/pre/libp.so",
            "/lib/libb.so",
            "/lib/liba.so",
            "/lib/libd.so",
            "/lib/libc.so"
        ]
    );
    // Each after what it needs.
    let place = |object: usize| {
        closure
            .relocated
            .iter()
            .position(|&other| other == object)
            .unwrap()
    };
    assert!(place(5) < place(3) && place(6) < place(4) && place(3) < place(4) && place(4) < place(0));
}

#[test]
fn privileged_programs_take_preloaded_libraries_only_if_these_are_privileged_too() {
    let files = Table::default()
        .with("/pre/libp.so", &Library::default())
        .with("/lib/libq.so", &Library::default())
        .with("/lib/libprivileged.so", &Library::default());
    let loader = Loader {
        preload: ["/pre/libp.so", "libq.so", "libprivileged.so"]
            .map(str::to_owned)
            .to_vec(),
        secure: true,
        ..plain()
    };
    assert_eq!(
        loaded(&load(&needs(&[]), &loader, files)),
        ["/lib/libprivileged.so"]
    );
}

#[test]
fn a_program_can_forbid_the_default_folders() {
    let program = Library {
        flags_1: NODEFLIB,
        ..needs(&["liba.so"])
    };
    let files = Table::default().with("/lib/liba.so", &Library::default());
    let closure = load(&program, &plain(), files);
    assert_eq!(closure.searches[0].ending, Ending::Missing);
    assert!(closure.searches[0].places.is_empty());
}

#[test]
fn a_program_is_no_library() {
    let pie = Library {
        flags_1: PIE,
        ..Library::default()
    };
    let files = Table::default().with("/lib/liba.so", &pie);
    let closure = load(&needs(&["liba.so"]), &plain(), files);
    assert!(
        matches!(&closure.searches[0].ending, Ending::Refused(why) if why.contains("program")),
        "{:?}",
        closure.searches
    );
}

/// A cache with entries of name, path, hardware, and an extension with names of levels.
fn cache(entries: &[(&str, &str, u64)], levels: &[&str]) -> Cache {
    let mut bytes = b"glibc-ld.so.cache1.1".to_vec();
    bytes.extend((entries.len() as u32).to_le_bytes());
    bytes.resize(48, 0);
    bytes[28] = 2;
    let mut texts = Vec::new();
    let texts_at = 48 + 24 * entries.len();
    let mut text = |value: &str| {
        let at = (texts_at + texts.len()) as u32;
        texts.extend(value.as_bytes());
        texts.push(0);
        at
    };
    let levels: Vec<u32> = levels.iter().map(|level| text(level)).collect();
    for (name, path, hardware) in entries {
        bytes.extend(0x0303_u32.to_le_bytes());
        bytes.extend(text(name).to_le_bytes());
        bytes.extend(text(path).to_le_bytes());
        bytes.extend(0_u32.to_le_bytes());
        bytes.extend(hardware.to_le_bytes());
    }
    bytes.extend(texts);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let extension = bytes.len() as u32;
    bytes[32..36].copy_from_slice(&extension.to_le_bytes());
    for word in [0xeaa4_2174, 1, 1, 0, extension + 24, 4 * levels.len() as u32] {
        bytes.extend(u32::to_le_bytes(word));
    }
    for level in levels {
        bytes.extend(level.to_le_bytes());
    }
    Cache::new(bytes)
}

#[test]
fn the_cache_chooses_the_best_level_and_orders_numbers_as_numbers() {
    const LEVEL: u64 = 1 << 62;
    let cache = cache(
        &[
            ("libx.so.10", "/c/ten", 0),
            ("libx.so.9", "/c/v2", LEVEL),
            // The second name of the list; the file itself asks for level 3.
            ("libx.so.9", "/c/v3", LEVEL | 2 << 32 | 1),
            ("libx.so.9", "/c/plain", 0),
            ("liba.so", "/c/tls", 1 << 63 | 2),
            ("liba.so", "/c/a", 0),
        ],
        &["x86-64-v2", "x86-64-v3"],
    );
    let find = |name: &str, levels: &[&str], features: u64| {
        let hardware = image::elf::cache::Hardware {
            levels: levels.iter().map(|&level| level.to_owned()).collect(),
            features,
            platform_bit: Some(50),
        };
        cache.find(name, Machine::X86_64, &hardware)
    };
    assert_eq!(find("libx.so.10", &[], 0).as_deref(), Some("/c/ten"));
    assert_eq!(find("libx.so.9", &[], 0).as_deref(), Some("/c/plain"));
    assert_eq!(find("libx.so.9", &["x86-64-v2"], 0).as_deref(), Some("/c/v2"));
    assert_eq!(
        find("libx.so.9", &["x86-64-v3", "x86-64-v2"], 0).as_deref(),
        Some("/c/v3")
    );
    assert_eq!(find("liba.so", &[], 2).as_deref(), Some("/c/tls"));
    assert_eq!(find("liba.so", &[], 0).as_deref(), Some("/c/a"));
    assert_eq!(find("libnone.so", &[], 0), None);
}

#[test]
fn a_place_in_the_cache_is_used_before_the_default_folders() {
    let loader = Loader {
        cache: cache(&[("liba.so", "/c/liba.so", 0)], &[]),
        ..plain()
    };
    let files = Table::default()
        .with("/c/liba.so", &Library::default())
        .with("/lib/liba.so", &Library::default());
    let closure = load(&needs(&["liba.so"]), &loader, files);
    assert_eq!(loaded(&closure), ["/c/liba.so"]);
    assert_eq!(closure.searches[0].places[0].reason, Reason::Cache);
    // What the cache promises may be gone.
    let files = Table::default().with("/lib/liba.so", &Library::default());
    assert_eq!(
        loaded(&load(&needs(&["liba.so"]), &loader, files)),
        ["/lib/liba.so"]
    );
}

#[test]
fn a_damaged_cache_does_no_harm() {
    let Ok(sound) = std::fs::read("/etc/ld.so.cache") else {
        return;
    };
    let mut random = fastrand::Rng::with_seed(5);
    let hardware = image::elf::cache::Hardware::default();
    let sound_cache = Cache::new(sound.clone());
    assert!(
        sound_cache
            .find("libc.so.6", Machine::X86_64, &hardware)
            .is_some()
    );
    for round in 0..500 {
        let mut bytes = sound.clone();
        for _ in 0..random.usize(1..5) {
            let reach = [48, bytes.len()][random.usize(..2)];
            bytes[random.usize(..reach)] = random.u8(..);
        }
        if round % 4 == 0 {
            bytes.truncate(random.usize(..bytes.len()));
        }
        let _ = Cache::new(bytes).find("libc.so.6", Machine::X86_64, &hardware);
    }
}
