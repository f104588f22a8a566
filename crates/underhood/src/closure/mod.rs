//! Everything that the loader would load for a program, found without running it.

mod disk;
mod surroundings;

use std::path::Path;
use std::rc::Rc;

use image::elf::closure::{self, Closure, Program};
use image::elf::search::{File, Loader};
use image::elf::{Image, Unreadable};

use crate::exit::{Failure, UNSUPPORTED};

pub use surroundings::{CACHE, PRELOAD, Wishes};

/// The largest file that is read.
pub const LARGEST: u64 = 4 << 30;

/// Finds everything that a program needs.
pub fn load(
    path: &Path,
    bytes: &[u8],
    image: &Image<'_>,
    wishes: Wishes,
) -> Result<(Closure, Loader), Failure> {
    let name = path.display().to_string();
    let real = std::fs::canonicalize(path)?;
    let interpreter = image
        .interpreter()
        .unwrap_or_else(|| surroundings::usual_interpreter(image.machine()).to_owned());
    if interpreter.contains("ld-musl") {
        return Err(Failure::new(
            UNSUPPORTED,
            format!(
                "follow the libraries of {name}: its loader is musl's, which searches by other rules than the one modelled here, glibc's"
            ),
        ));
    }
    let loader = surroundings::loader(path, image.machine(), &interpreter, wishes)?;
    let program = Program {
        path: name.clone(),
        origin: real
            .parent()
            .map(|folder| folder.to_string_lossy().into_owned())
            .unwrap_or_default(),
        file: File {
            identity: os::files::identity(&real)?,
            bytes: Rc::new(bytes.to_vec()),
            setuid: false,
        },
        interpreter,
    };
    let closure = closure::load(program, &loader, &disk::Disk).map_err(|error| unreadable(&name, &error))?;
    Ok((closure, loader))
}

/// A file that is not what it should be.
pub fn unreadable(file: &str, error: &Unreadable) -> Failure {
    match error {
        Unreadable::Bits32 | Unreadable::BigEndian | Unreadable::Machine(_) => {
            Failure::new(UNSUPPORTED, format!("inspect {file}: {error}"))
        }
        _ => Failure::usage(format!("inspect {file}: {error}")),
    }
}
