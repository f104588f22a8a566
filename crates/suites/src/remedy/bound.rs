//! A bound copy of the program, which starts without relocating (`image bind`).
//!
//! Unlike other remedies it changes nothing in the environment: another file is run. Whoever applies it makes the copy.

use std::path::{Path, PathBuf};

use measure::model::Support;
use os::loader::{Libc, Linkage, Program};
use os::process::Observation;

use super::{Kind, Obstacle, Remedy};

/// As people write it.
pub const NAME: &str = "bound";

/// The remedy, without its copy or with it.
#[must_use]
pub fn remedy(copy: PathBuf) -> Remedy {
    let available = if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        Support::Yes
    } else {
        Support::No("bound copies are made of ELF programs for x86-64 on Linux".to_owned())
    };
    Remedy {
        name: NAME.to_owned(),
        summary: "a copy of the program whose libraries are relocated and bound already".to_owned(),
        kind: Kind::Bound { copy },
        available,
    }
}

/// Why a copy would do nothing for this program, or must not be made.
pub fn obstacle(program: &Program) -> Option<Obstacle> {
    let reason = if program.setuid || program.setgid || program.file_caps {
        "the program runs with more rights than its user has, and a copy of it must not exist"
    } else if !matches!(program.linkage, Linkage::Dynamic { .. }) {
        "the program has no libraries that could be bound"
    } else if program.libc != Libc::Glibc || program.machine != "x86_64" {
        "programs for x86-64 with the GNU C library can be bound"
    } else {
        return None;
    };
    Some(Obstacle::harmless(reason))
}

/// Proof that the copy ran, and not the original in its place.
///
/// # Errors
/// When no process of the command ran it.
pub fn in_effect(copy: &Path, observation: &Observation) -> Result<(), String> {
    let ran = observation
        .processes
        .iter()
        .any(|process| process.exe == copy || process.libraries.iter().any(|file| file == copy));
    if ran {
        return Ok(());
    }
    Err(
        "the copy was not run, or ran the original in its place; UNDERHOOD_VERBOSE=1 makes it say why"
            .to_owned(),
    )
}
