//! What the loader's steps cost on this machine, measured by doing them.
//!
//! The smallest of several repetitions counts: whatever else the machine does only adds. Lookups are timed on the
//! program's own tables, by the walk that counts them, so that long names and cold tables have their price.

use std::fs::File;
use std::hint::black_box;
use std::io::{self, Read};
use std::time::Instant;

use image::elf::closure::{Closure, Role};
use image::elf::estimate::UnitCosts;
use image::elf::lookup::Linker;
use os::mapping::PrivateMapping;

const REPETITIONS: usize = 7;
const PAGE: usize = 4096;
/// What the kernel maps at one fault when it has the file in memory.
const AROUND: usize = 16 * PAGE;

/// Measures. Takes some tens of milliseconds, and as long as the program's lookups take a few times.
///
/// # Errors
/// Where files cannot be mapped as the loader maps them.
pub fn measure(closure: &Closure, linker: &Linker<'_>) -> io::Result<UnitCosts> {
    // A file that is in memory and that nobody shortens: this program.
    let sample = File::open(std::env::current_exe()?)?;
    let length = usize::try_from(sample.metadata()?.len())
        .unwrap_or(usize::MAX)
        .min(4 << 20)
        / AROUND
        * AROUND;
    Ok(UnitCosts {
        miss: miss(),
        library: library(closure)?,
        relative: relative(),
        copied_page: copied_page(&sample, length)?,
        read_page: read_page(&sample, length)?,
        step: step(linker),
        step_rehashed: linker.rehashed().ok().flatten().map(|linker| step(&linker)),
    })
}

/// The least time of a piece of work in nanoseconds, per item.
fn least(items: usize, mut work: impl FnMut() -> io::Result<()>) -> io::Result<f64> {
    let mut least = f64::INFINITY;
    for _ in 0..REPETITIONS {
        let start = Instant::now();
        work()?;
        least = least.min(start.elapsed().as_nanos() as f64);
    }
    Ok(least / items.max(1) as f64)
}

fn miss() -> f64 {
    const ASKED: usize = 100;
    least(ASKED, || {
        for _ in 0..ASKED {
            black_box(File::open("/lib/x86_64-linux-gnu/underhood-no-such-library.so.1").is_ok());
        }
        Ok(())
    })
    .unwrap_or(0.0)
}

/// Opens a library, reads its header, maps it in four pieces, looks into each (its tables lie apart), writes its dynamic
/// table, and lets go of them.
fn library(closure: &Closure) -> io::Result<f64> {
    let Some(object) = closure
        .objects
        .iter()
        .find(|object| object.role == Role::Library && object.bytes.len() > PAGE)
    else {
        return Ok(0.0);
    };
    least(1, || {
        let mut file = File::open(&object.path)?;
        file.read_exact(&mut [0; 832])?;
        let pieces = [(); 4].map(|()| PrivateMapping::map(&file, object.bytes.len()));
        for (at, piece) in pieces.into_iter().enumerate() {
            let mut piece = piece?;
            let place = object.bytes.len() / 4 * at;
            black_box(piece.read(place));
            if at == 3 {
                piece.write(place, 0);
            }
        }
        Ok(())
    })
}

/// Adds an address to numbers at places from a list, on two pages.
fn relative() -> f64 {
    const PLACES: usize = 2 * PAGE / 8;
    let entries: Vec<(usize, u64)> = (0..PLACES).map(|place| (place, place as u64 * 3)).collect();
    let mut places = vec![0_u64; PLACES];
    least(PLACES, || {
        let base = black_box(0x7f00_0000_0000);
        for &(at, addend) in black_box(&entries) {
            if let Some(place) = places.get_mut(at) {
                *place = addend.wrapping_add(base);
            }
        }
        black_box(&mut places);
        Ok(())
    })
    .unwrap_or(0.0)
}

fn copied_page(file: &File, length: usize) -> io::Result<f64> {
    let mut fastest = f64::INFINITY;
    for _ in 0..REPETITIONS {
        let mut mapping = PrivateMapping::map(file, length)?;
        let start = Instant::now();
        for at in (0..length).step_by(PAGE) {
            mapping.write(at, 1);
        }
        fastest = fastest.min(start.elapsed().as_nanos() as f64);
    }
    Ok(fastest / (length / PAGE) as f64)
}

fn read_page(file: &File, length: usize) -> io::Result<f64> {
    let mut fastest = f64::INFINITY;
    for _ in 0..REPETITIONS {
        let mapping = PrivateMapping::map(file, length)?;
        let start = Instant::now();
        for at in (0..length).step_by(AROUND) {
            black_box(mapping.read(at));
        }
        fastest = fastest.min(start.elapsed().as_nanos() as f64);
    }
    Ok(fastest / (length / AROUND) as f64)
}

/// One library looked into for one symbol. The first walk brings the tables in.
fn step(linker: &Linker<'_>) -> f64 {
    let mut steps = 0;
    // Damaged files were found when the work was counted.
    let _ = linker.resolve(&mut |resolution| steps += resolution.cost.libraries);
    if steps == 0 {
        return 0.0;
    }
    let mut fastest = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        let _ = linker.resolve(&mut |resolution| {
            black_box(resolution.target);
        });
        fastest = fastest.min(start.elapsed().as_nanos() as f64);
    }
    fastest / steps as f64
}
