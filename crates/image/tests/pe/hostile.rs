//! Bounded fuzzing: sound files with bytes changed and cut off. Whatever comes out, it comes soon and without panic, and what
//! a writer puts out can be read again.

use std::time::{Duration, Instant};

use image::pe::loader::{Options, Plan, check::check};
use image::pe::{File, bind, heap, rebase};

use crate::sample::{borrowed, set};

/// Everything that reads, loads or writes. Gives what was done without an error.
pub fn all(files: &[(&str, Vec<u8>)]) -> [bool; 4] {
    let mut done = [false; 4];
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
        for file in &bound {
            File::read(&file.bytes).unwrap().imports().unwrap();
        }
    }
    done
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
    if round.is_multiple_of(7) {
        bytes.truncate(random.usize(..bytes.len()));
    }
}

#[test]
fn damaged_files_are_read_loaded_and_written_or_refused() {
    let mut random = fastrand::Rng::with_seed(11);
    let (mut good, mut bad) = ([0; 4], [0; 4]);
    let start = Instant::now();
    for wide in [true, false] {
        let sound = set(wide);
        let options = rebase::Options::default();
        let based: Vec<_> = rebase::rebase(borrowed(&sound), &options)
            .unwrap()
            .into_iter()
            .zip(&sound)
            .map(|(file, (name, _))| (*name, file.bytes))
            .collect();
        for round in 0..2000 {
            let mut files = if round % 3 == 0 {
                sound.clone()
            } else {
                based.clone()
            };
            let which = random.usize(..files.len());
            damage(&mut files[which].1, &mut random, round);
            for (index, done) in all(&files).into_iter().enumerate() {
                good[index] += usize::from(done);
                bad[index] += usize::from(!done);
            }
        }
    }
    assert!(good.iter().all(|&count| count > 100), "{good:?}");
    assert!(bad[1..].iter().all(|&count| count > 100), "{bad:?}");
    // A second for each thousand rounds would be slow; a table that is walked in circles takes for ever.
    assert!(start.elapsed() < Duration::from_secs(120));
}
