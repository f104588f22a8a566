//! The loader loads as NT did, and its judge notices when it does not.

use std::time::Duration;

use image::pe::loader::check::check;
use image::pe::loader::{Loaded, Options, Plan, Refused};
use image::pe::{File, View};

use crate::sample::{Offer, Sample, Take, borrowed, set};

fn load(files: &[(&'static str, Vec<u8>)], options: Options) -> Result<Loaded, Refused> {
    let plan = Plan::new(borrowed(files), files[0].0, options)?;
    let loaded = plan.load()?;
    let checked = check(&plan, &loaded)?;
    assert_eq!(checked.differences, Vec::<String>::new());
    assert_eq!(checked.fixups, loaded.counts.fixups);
    Ok(loaded)
}

#[test]
fn tables_are_read_as_they_were_written() {
    for wide in [true, false] {
        let files = set(wide);
        let program = File::read(&files[0].1).unwrap();
        let imports = program.imports().unwrap();
        let libraries: Vec<_> = imports.iter().map(|import| import.library).collect();
        assert_eq!(libraries, [&b"one.dll"[..], b"TWO.DLL", b"KERNEL32.dll"]);
        let names: Vec<_> = imports[0].symbols.iter().map(ToString::to_string).collect();
        assert_eq!(names, ["alpha", "beta", "#3"]);
        let two = File::read(&files[2].1).unwrap();
        let exports = two.exports().unwrap();
        assert_eq!((exports.exports.len(), exports.numbers), (4, 4));
        assert_eq!(exports.library, Some(&b"itself.dll"[..]));
        let fixups = two.fixups().unwrap();
        assert_eq!(fixups.iter().map(|page| page.fixups.len()).sum::<usize>(), 700);
        assert!(program.delayed().unwrap().is_empty() && program.bound().unwrap().is_empty());
        assert_eq!(program.tls().unwrap(), None);
        assert_eq!(program.u16(0), Some(0x5a4d));
    }
}

#[test]
fn the_second_library_is_moved_and_every_slot_is_filled() {
    for wide in [true, false] {
        let loaded = load(&set(wide), Options::default()).unwrap();
        let counts = loaded.counts;
        assert_eq!((counts.modules, counts.moved), (3, 1));
        // one.dll imports two.dll, but lies there first: a library is mapped before its own imports are walked.
        let moved: Vec<_> = loaded.modules.iter().map(|module| module.moved).collect();
        assert_eq!(moved, [false, false, true]);
        assert_eq!(counts.fixups, 700);
        // alpha, beta, forwarded and what it leads to, gamma.
        assert_eq!((counts.names, counts.ordinals, counts.forwarded), (5, 2, 1));
        assert_eq!((counts.written, counts.system), (8, 2));
        assert_eq!((counts.bound, counts.stale), (0, 0));
        assert_eq!(loaded.system, [b"kernel32.dll".to_vec()]);
    }
}

#[test]
fn right_hints_save_comparisons_and_wrong_ones_cost_one() {
    let files = set(true);
    let with = load(&files, Options::default()).unwrap().counts;
    let without = load(
        &files,
        Options {
            hints: false,
            ..Options::default()
        },
    )
    .unwrap()
    .counts;
    // alpha's hint is right; beta's lies outside; forwarded's is wrong, and so is gamma's.
    assert_eq!(with.hint_hits, 1);
    assert_eq!(without.hint_hits, 0);
    assert_eq!(with.names, without.names);
}

#[test]
fn forwarders_are_followed_but_not_in_circles() {
    let program = |name| Sample {
        library: false,
        base: 0x1_4000_0000,
        imports: vec![("a.dll", vec![Take::Name(name, 0)])],
        ..Sample::default()
    };
    let library = |exports: Vec<Offer>, base| Sample {
        base,
        exports,
        ..Sample::default()
    };
    let a = library(
        vec![
            Offer::Elsewhere("far", "b.middle"),
            Offer::Elsewhere("round", "b.about"),
            Offer::Elsewhere("nowhere", "b.none"),
            Offer::Elsewhere("odd", "b"),
            Offer::Elsewhere("system", "NTDLL.RtlSomething"),
        ],
        0x1_8000_0000,
    );
    let b = library(
        vec![
            Offer::Elsewhere("middle", "c.#1"),
            Offer::Elsewhere("about", "a.round"),
        ],
        0x1_9000_0000,
    );
    let c = library(vec![Offer::Here(None)], 0x1_a000_0000);
    let set = |name| {
        vec![
            ("app.exe", program(name).build()),
            ("a.dll", a.build()),
            ("b.dll", b.build()),
            ("c.dll", c.build()),
        ]
    };
    let loaded = load(&set("far"), Options::default()).unwrap();
    // Nobody imports b and c; the forwarders load them.
    assert_eq!((loaded.counts.modules, loaded.counts.forwarded), (4, 2));
    let loaded = load(&set("system"), Options::default()).unwrap();
    assert_eq!((loaded.counts.modules, loaded.counts.system), (2, 1));
    for (name, said) in [
        ("round", "circle"),
        ("odd", "circle"),
        ("nowhere", "none"),
        ("lost", "lost"),
    ] {
        let error = load(&set(name), Options::default()).unwrap_err().to_string();
        assert!(error.contains(said), "{name}: {error}");
    }
}

#[test]
fn taken_addresses_move_what_can_be_moved() {
    let mut files = set(true);
    let options = Options {
        occupied: std::iter::once(0x1_4000_0000..0x1_4000_1000).collect(),
        ..Options::default()
    };
    let loaded = load(&files, options.clone()).unwrap();
    assert_eq!(loaded.counts.moved, 2);
    files[0].1 = Sample {
        library: false,
        base: 0x1_4000_0000,
        stripped: true,
        ..Sample::default()
    }
    .build();
    let error = load(&files, options).unwrap_err();
    assert!(matches!(error, Refused::Fixed { .. }), "{error}");
}

#[test]
fn dynamic_base_moves_only_where_it_is_honoured() {
    let library = Sample {
        exports: vec![Offer::Here(Some("f"))],
        flags: 0x0040,
        ..Sample::default()
    };
    let program = Sample {
        library: false,
        base: 0x1_4000_0000,
        imports: vec![("a.dll", vec![Take::Name("f", 0)])],
        ..Sample::default()
    };
    let files = vec![("app.exe", program.build()), ("a.dll", library.build())];
    for (dynamic_base, moved) in [(false, 0), (true, 1)] {
        let options = Options {
            dynamic_base,
            ..Options::default()
        };
        assert_eq!(load(&files, options).unwrap().counts.moved, moved);
    }
}

#[test]
fn repeated_loads_agree_and_the_judge_sees_a_wrong_byte() {
    let files = set(true);
    let plan = Plan::new(borrowed(&files), "APP.EXE", Options::default()).unwrap();
    let samples = plan.repeat(30, Duration::from_secs(10)).unwrap();
    assert_eq!(samples.times.len(), 30);
    let fastest = samples.fastest();
    assert!(fastest.total >= fastest.map.max(fastest.fixups).max(fastest.imports));
    let mut loaded = samples.loaded;
    assert!(check(&plan, &loaded).unwrap().differences.is_empty());
    let before = loaded.fingerprint();
    let last = loaded.modules[1].image.len() - 1;
    loaded.modules[1].image[last] ^= 1;
    let differences = check(&plan, &loaded).unwrap().differences;
    assert!(
        differences.len() == 1 && differences[0].starts_with("one.dll: at "),
        "{differences:?}"
    );
    assert_ne!(loaded.fingerprint(), before);
}

#[test]
fn what_cannot_be_a_set_is_refused() {
    let files = set(true);
    let plan = |files: &[(&'static str, Vec<u8>)], root: &str| {
        Plan::new(borrowed(files), root, Options::default())
            .map(|_| ())
            .unwrap_err()
    };
    assert!(matches!(plan(&files, "other.exe"), Refused::NoRoot(_)));
    let twice = [files.clone(), vec![("ONE", files[1].1.clone())]].concat();
    assert!(matches!(plan(&twice, "app.exe"), Refused::Twice(_)));
    let mixed = [files.clone(), vec![("three.dll", set(false)[1].1.clone())]].concat();
    assert!(matches!(plan(&mixed, "app.exe"), Refused::Mixed { .. }));
    let mut long = files[1].1.clone();
    // The section's size in memory: it ends in the last page of what 32 bits reach.
    long[64 + 24 + 240 + 8..64 + 24 + 240 + 12].copy_from_slice(&0xffff_e800_u32.to_le_bytes());
    assert!(File::read(&long).is_err());
    let mut huge = files;
    // SizeOfImage.
    huge[1].1[64 + 24 + 56..64 + 24 + 60].copy_from_slice(&0xf000_0000_u32.to_le_bytes());
    let error = plan(&huge, "app.exe");
    assert!(matches!(error, Refused::TooLarge { .. }), "{error}");
}

/// A chain deeper than any stack of a thread would like.
#[test]
fn a_long_chain_of_libraries_is_no_problem() {
    let names: Vec<&'static str> = (0..3000).map(|index| &*format!("l{index}.dll").leak()).collect();
    let files: Vec<_> = names
        .iter()
        .enumerate()
        .map(|(index, name)| {
            let next = names.get(index + 1);
            let sample = Sample {
                pointers: 1,
                imports: next.iter().map(|next| (**next, vec![Take::Ordinal(1)])).collect(),
                exports: vec![Offer::Here(None)],
                ..Sample::default()
            };
            (*name, sample.build())
        })
        .collect();
    let loaded = load(&files, Options::default()).unwrap();
    assert_eq!((loaded.counts.modules, loaded.counts.moved), (3000, 2999));
}
