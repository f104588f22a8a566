//! Why the loader refuses a program before it binds anything: a version that a library does not have.
//!
//! A file names the versions that it requires of each library. If the library has versions and this one is not among them, the
//! start ends with "version … not found" (glibc `elf/dl-version.c`). One version is a promise about the loader itself:
//! `GLIBC_ABI_DT_RELR` says that it knows packed relocations, and a file that has these and does not ask for it is refused too.

use super::closure::{Closure, Role};
use super::lookup::Linker;

/// The promise that packed relocations need.
const RELR: &[u8] = b"GLIBC_ABI_DT_RELR";

/// The reasons, one a sentence without its full stop, in the order of the objects.
#[must_use]
pub fn broken(closure: &Closure, linker: &Linker<'_>) -> Vec<String> {
    let mut reasons = Vec::new();
    for (object, (image, symbols)) in closure.objects.iter().zip(linker.tables()) {
        let mut needs_libc = false;
        let mut promised = false;
        for (version, file) in symbols.versions.required_of_others() {
            let file = String::from_utf8_lossy(file);
            needs_libc |= file.starts_with("libc.so.");
            promised |= version.name == RELR;
            let Some(library) = closure.objects.iter().position(|other| other.is_called(&file)) else {
                // That it is missing is told elsewhere.
                continue;
            };
            // One that defines no versions is let pass here. If it knows no versions at all, the loader fails when it finds the
            // symbol there.
            let defines = linker.tables().nth(library).is_none_or(|(image, other)| {
                if image.dynamic.defined.0 == 0 {
                    other.versions.exist()
                } else {
                    other.versions.define(&version)
                }
            });
            if !defines && !version.weak {
                reasons.push(format!(
                    "{} requires the version {} of {file}, which it does not have",
                    object.path,
                    String::from_utf8_lossy(version.name)
                ));
            }
        }
        if image.dynamic.packed.1 > 0 && needs_libc && !promised && object.role != Role::Loader {
            reasons.push(format!(
                "{} has packed relocations without asking for GLIBC_ABI_DT_RELR, as some linkers leave out",
                object.path
            ));
        }
    }
    reasons
}
