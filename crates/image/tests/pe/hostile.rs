//! Bounded fuzzing: sound files with bytes changed and cut off. Whatever comes out, it comes soon and without panic, and what
//! a writer puts out can be read again.

use std::time::{Duration, Instant};

use image::pe::loader::{Options, Plan, Refused, check::check};
use image::pe::{File, bind, heap, rebase};

use crate::sample::{borrowed, set};

/// Everything that reads, loads, rebases and binds. Gives what was done without an error, and how often a set that could be loaded
/// could not be loaded any more.
pub fn all(files: &[(&str, Vec<u8>)]) -> ([bool; 4], usize) {
    let (mut done, mut broken) = ([false; 4], 0);
    for (_, bytes) in files {
        if let Ok(file) = File::read(bytes) {
            let read = [
                file.imports().is_ok(),
                file.delayed().is_ok(),
                file.bound().is_ok(),
                file.exports().is_ok(),
                file.fixups().is_ok(),
                file.tls().is_ok(),
                heap::find(&file).is_ok(),
            ];
            done[0] |= read.iter().all(|&read| read);
        }
    }
    if let Ok(plan) = Plan::new(borrowed(files), files[0].0, Options::default())
        && let Ok(loaded) = plan.load()
    {
        // A hostile file may have fixups in its import table, and then the judge, who reads files, sees others than the loader.
        done[1] = check(&plan, &loaded).is_ok();
    }
    let options = rebase::Options {
        strip_signature: true,
        stamp: Some(5),
        ..rebase::Options::default()
    };
    if let Ok(rebased) = rebase::rebase(borrowed(files), &options) {
        done[2] = true;
        let moved = load(rebased.iter().map(|file| (&*file.name, &*file.bytes)), files[0].0);
        if done[1] {
            assert!(matches!(moved, Ok(0) | Err(_)), "moved after rebasing: {moved:?}");
            broken += usize::from(moved.is_err());
        }
        for file in &rebased {
            assert_eq!(File::read(&file.bytes).unwrap().headers.base, file.to);
        }
    }
    let options = bind::Options {
        strip_signature: true,
        even_dynamic_base: true,
    };
    if let Ok(bound) = bind::bind(borrowed(files), options) {
        done[3] = true;
        let moved = load(bound.iter().map(|file| (&*file.name, &*file.bytes)), files[0].0);
        if done[1] {
            assert!(matches!(moved, Ok(0) | Err(_)), "moved after binding: {moved:?}");
            broken += usize::from(moved.is_err());
        }
        for file in &bound {
            File::read(&file.bytes).unwrap().imports().unwrap();
        }
    }
    (done, broken)
}

/// Loads a set; how many files are moved.
fn load<'a>(files: impl Iterator<Item = (&'a str, &'a [u8])>, root: &str) -> Result<u64, Refused> {
    let plan = Plan::new(files, root, Options::default())?;
    Ok(plan.load()?.counts.moved)
}

/// Changes a few bytes, half of the time near the start, where they mean most.
pub fn damage(bytes: &mut Vec<u8>, random: &mut fastrand::Rng, round: usize) {
    let reach = if round.is_multiple_of(2) {
        0x400.min(bytes.len())
    } else {
        bytes.len()
    };
    for _ in 0..random.usize(1..6) {
        bytes[random.usize(..reach)] = [0, 1, 0x7f, 0xff, random.u8(..)][random.usize(..5)];
    }
    // A whole number, where numbers lie: aligned.
    if round.is_multiple_of(3) {
        let place = random.usize(..reach / 4) * 4;
        let value = [
            0,
            u32::MAX,
            0x7fff_ffff,
            0xffff_f000,
            0x1000,
            random.u32(..0x3000),
        ][random.usize(..6)];
        if let Some(bytes) = bytes.get_mut(place..place + 4) {
            bytes.copy_from_slice(&value.to_le_bytes());
        }
    }
    if round.is_multiple_of(7) {
        bytes.truncate(random.usize(..bytes.len()));
    }
}

/// Damages sound sets many times. Gives how often each of the four things was done, and how often not.
///
/// A writer must put out what loads. One kind of file escapes it: one whose slots lie over its own tables, so that whether it loads
/// depends on the addresses that the loader writes there. No linker makes it, and chance hardly ever.
fn campaign(seed: u64, rounds: usize) -> ([usize; 4], [usize; 4]) {
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut good, mut bad) = ([0; 4], [0; 4]);
    let mut broken = 0;
    for wide in [true, false] {
        let sound = set(wide);
        let options = rebase::Options::default();
        let based: Vec<_> = rebase::rebase(borrowed(&sound), &options)
            .unwrap()
            .into_iter()
            .zip(&sound)
            .map(|(file, (name, _))| (*name, file.bytes))
            .collect();
        let bound: Vec<_> = bind::bind(borrowed(&based), bind::Options::default())
            .unwrap()
            .into_iter()
            .zip(&sound)
            .map(|(file, (name, _))| (*name, file.bytes))
            .collect();
        for round in 0..rounds {
            let mut files = [&sound, &based, &bound][round % 3].clone();
            let which = random.usize(..files.len());
            damage(&mut files[which].1, &mut random, round / 3);
            let start = Instant::now();
            let (done, lost) = all(&files);
            broken += lost;
            for (index, done) in done.into_iter().enumerate() {
                good[index] += usize::from(done);
                bad[index] += usize::from(!done);
            }
            // A file of some kilobytes: what takes seconds goes in circles.
            assert!(
                start.elapsed() < Duration::from_secs(5),
                "seed {seed}, round {round}"
            );
        }
    }
    assert!(
        broken <= rounds / 500,
        "{broken} sets could not be loaded any more"
    );
    (good, bad)
}

#[test]
fn damaged_files_are_read_loaded_and_written_or_refused() {
    let (good, bad) = campaign(11, 2000);
    assert!(good.iter().all(|&count| count > 100), "{good:?}");
    assert!(bad[1..].iter().all(|&count| count > 100), "{bad:?}");
}

#[test]
#[ignore = "takes minutes: CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true cargo test --release -p underhood-image --test pe -- --ignored damaged"]
fn damaged_files_for_long() {
    for seed in 0..20 {
        campaign(seed, 20_000);
    }
}
