//! The writers of moved and bound copies, on every library of the machine and on damaged files: what comes out is refused or right.

use std::collections::BTreeMap;

use image::elf::bind::{Choice, Wishes};
use image::elf::lookup::Linker;
use image::elf::moving::{self, Call, Fate, Move, Texts};
use image::elf::relocations;
use image::elf::verify::{Difference, What, compare_files};
use image::elf::{Image, Unreadable};

use crate::loader::{INTERPRETER, load_bytes, loader};
use crate::system;

/// Moves a file and has the copy judged. The relocations that were dealt with, or why it does not move.
fn moved(bytes: &[u8], random: &mut fastrand::Rng) -> Result<u64, String> {
    let image = Image::parse(bytes).map_err(|error| error.to_string())?;
    moving::check(&image).map_err(|error| error.to_string())?;
    let alignment = moving::alignment(&image);
    let by = if image.is_fixed() {
        0
    } else {
        0x1200_0000_0000_u64.next_multiple_of(alignment) + alignment * random.u64(..1000)
    };
    let how = Move {
        by,
        ..Move::default()
    };
    let copy = moving::moved(&image, &how).map_err(|error| error.to_string())?;
    let report = compare_files(bytes, &copy.bytes).unwrap();
    assert_eq!(report.report.differences, []);
    assert_eq!(
        (report.shift, report.applied, report.kept),
        (by, copy.relative, copy.kept)
    );
    let counts = relocations::count(&image).unwrap();
    assert_eq!(copy.relative + copy.kept, counts.total());
    Ok(counts.total())
}

/// So many files, spread evenly over all of them.
fn mass(most: usize) -> usize {
    let mut files = system::all();
    files.retain(|path| system::is_elf(path));
    let stride = files.len().div_ceil(most).max(1);
    let mut random = fastrand::Rng::with_seed(5);
    let (mut count, mut total) = (0, 0);
    let mut refused: BTreeMap<String, u32> = BTreeMap::new();
    for path in files.iter().step_by(stride) {
        let Ok(bytes) = std::fs::read(path) else { continue };
        match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| moved(&bytes, &mut random))) {
            Ok(Ok(relocations)) => {
                count += 1;
                total += relocations;
            }
            Ok(Err(why)) => *refused.entry(why).or_default() += 1,
            Err(_) => panic!("{}", path.display()),
        }
    }
    println!("{count} files with {total} relocations moved; not moved: {refused:?}");
    count
}

#[test]
fn files_of_the_system_are_moved_without_a_difference() {
    assert!(mass(60) >= 40);
}

/// `cargo test --release -p underhood-image --test elf -- --ignored --nocapture every_file_of_the_system_is_moved`
#[test]
#[ignore = "a minute; the figures stand in docs/PROOFS.md"]
fn every_file_of_the_system_is_moved_without_a_difference() {
    assert!(mass(usize::MAX) >= 1000);
}

/// A file moved with everything that a binder asks for: new names, words that are known, words that others write, and a call.
fn bound(bytes: &[u8], sound: &[u8], random: &mut fastrand::Rng) -> Result<bool, Unreadable> {
    let image = Image::parse(bytes)?;
    if moving::check(&image).is_err() {
        return Ok(false);
    }
    let mut how = Move {
        by: moving::alignment(&image).saturating_mul(random.u64(..1 << 33)),
        fixed: random.bool(),
        ..Move::default()
    };
    for relocation in relocations::unpacked(&image)?.take(500) {
        let fate = if random.bool() {
            Fate::Write(random.u64(..))
        } else {
            Fate::Leave
        };
        if random.u8(..3) > 0 {
            how.fates.insert(relocation.offset, fate);
        }
    }
    if random.bool() {
        how.texts = Texts {
            needed: Some(vec!["/a/library/with/a/long/path.so.1".to_owned()]),
            interpreter: random.bool().then(|| INTERPRETER.to_owned()),
            runpath: Some("/folder".to_owned()),
            rpath: None,
        };
    }
    if random.bool() {
        how.call = Some(Call {
            answer: 0x1234_5000,
            function: 0x1234_6000,
        });
    }
    let Ok(copy) = moving::moved(&image, &how) else {
        return Ok(false);
    };
    // What was written can be read, and is judged wherever the input could be judged against itself.
    let read = Image::parse(&copy.bytes).unwrap();
    assert!(moving::extent(&read, &Texts::default()).is_ok());
    if compare_files(bytes, bytes).is_ok_and(|report| report.report.is_equal()) {
        let report = compare_files(bytes, &copy.bytes).unwrap();
        // A damaged table may be unreadable on both sides alike; what is loaded must be the same.
        let loaded = |difference: &&Difference| {
            matches!(difference.what, What::Word(_) | What::Relocation(_) | What::Bytes)
        };
        let differences: Vec<_> = report.report.differences.iter().filter(loaded).collect();
        assert!(differences.is_empty(), "{differences:?}");
        assert!(sound != bytes || report.report.is_equal());
        assert!(report.added.len() >= usize::from(how.call.is_some()));
    }
    Ok(true)
}

/// The whole way of a program, from the search for its libraries to the copies.
fn whole_way(bytes: Vec<u8>) -> Result<bool, Unreadable> {
    let closure = load_bytes(bytes)?;
    let linker = Linker::new(&closure)?;
    let loader = loader();
    let wishes = Wishes {
        bind: true,
        path_of: &|object| format!("/copies/{object}"),
        interpreter: "/copies/guard",
    };
    let Ok(choice) = Choice::of(&closure, &linker, &loader, wishes) else {
        return Ok(false);
    };
    let Ok(layout) = choice.layout(0x1300_0000_0000, 1 << 16) else {
        return Ok(false);
    };
    let Ok(fills) = choice.fills(&layout) else {
        return Ok(false);
    };
    let calls = |object: usize| {
        let filled = fills.get(object).is_some_and(|fills| !fills.is_empty());
        filled.then_some(Call {
            answer: layout.guard,
            function: layout.guard + 64,
        })
    };
    Ok(choice.copies(&layout, &calls).is_ok())
}

fn damaged(rounds: usize, seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut written, mut refused) = (0, 0);
    for path in [
        "/bin/true",
        "/lib/x86_64-linux-gnu/libz.so.1",
        "/lib/x86_64-linux-gnu/libgcc_s.so.1",
        "/lib/x86_64-linux-gnu/libselinux.so.1",
    ] {
        let Ok(sound) = std::fs::read(path) else { continue };
        let tables = system::interesting(&sound);
        for round in 0..rounds {
            let mut bytes = sound.clone();
            let changes = if round == 0 { 0 } else { random.usize(1..5) };
            for _ in 0..changes {
                system::damage(&mut bytes, &tables, &mut random);
            }
            if round % 7 == 3 {
                bytes.truncate(random.usize(..bytes.len()));
            }
            match bound(&bytes, &sound, &mut random) {
                Ok(true) => written += 1,
                Ok(false) | Err(_) => refused += 1,
            }
            if round % 10 == 0 && path == "/bin/true" {
                match whole_way(bytes) {
                    Ok(true) => written += 1,
                    Ok(false) | Err(_) => refused += 1,
                }
            }
        }
    }
    println!("{written} written, {refused} refused");
    assert!(
        written > rounds / 2 && refused > rounds / 8,
        "{written} written, {refused} refused"
    );
}

#[test]
fn damaged_files_are_moved_rightly_or_refused() {
    damaged(150, 3);
}

/// `UNDERHOOD_SEED=N cargo test -p underhood-image --test elf -- --ignored damaged_files_are_moved_for_long`
#[test]
#[ignore = "minutes; for who has changed a writer"]
fn damaged_files_are_moved_for_long() {
    let seed = std::env::var("UNDERHOOD_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    damaged(20_000, seed.unwrap_or(7));
}
