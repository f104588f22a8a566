//! Before a whole machine is changed: do programs still run?
//!
//! A library in `/etc/ld.so.preload` is loaded by every program that starts from then on, the shell and `rm` included: a
//! broken one leaves nothing to repair the machine with. So it is tried first, in children, with the variables that
//! reach only them.

use std::ffi::OsString;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use os::process::{End, Launcher, Sink, Spec};

use super::selection::{Rules, VARIABLE};
use crate::exit::{CHECK_FAILED, Failure, launch_failure};

/// Programs that every system has, small and larger, with children and without.
const PROGRAMS: &[&[&str]] = &[
    &["/bin/true"],
    &["/usr/bin/env", "printenv", "HOME"],
    &["/bin/ls", "-a", "/"],
    &[
        "/bin/sh",
        "-c",
        "for word in a b c; do echo \"$word\" | cat; done; exit 3",
    ],
    &["/bin/sort", "/etc/passwd"],
];

/// More output than these programs have.
const LARGEST: u64 = 1 << 20;

/// Runs programs with and without the library, under the rules and with every heap that they name, with our environment and
/// with the empty one that services and timers start with, and demands the same exit status and output, and proof that the
/// library was really there.
///
/// # Errors
/// The first difference.
pub fn run(launcher: &mut Launcher, library: &Path, rules: &Rules) -> Result<(), Failure> {
    let every_program = rules.heaps().into_iter().map(|heap| format!("*={}", heap.name()));
    let texts: Vec<String> = std::iter::once(rules.0.clone()).chain(every_program).collect();
    for words in PROGRAMS {
        if !Path::new(words[0]).exists() {
            continue;
        }
        for inherited in [true, false] {
            let plain = observe(launcher, words, &[], inherited)?;
            for text in &texts {
                if observe(launcher, words, &variables(library, text), inherited)? != plain {
                    let why = format!("{} behaves differently with it", words.join(" "));
                    let library = library.display();
                    return Err(Failure::new(
                        CHECK_FAILED,
                        format!("trust the library {library} ({text}): {why}"),
                    ));
                }
            }
        }
    }
    let maps = observe(
        launcher,
        &["/bin/cat", "/proc/self/maps"],
        &variables(library, &rules.0),
        true,
    )?;
    let name = library.file_name().unwrap_or_default().as_encoded_bytes();
    if !maps.output.windows(name.len()).any(|part| part == name) {
        let why = "the loader does not load it; its message is on the next line if it gave one";
        let said = String::from_utf8_lossy(&maps.errors).into_owned();
        return Err(Failure::new(
            CHECK_FAILED,
            format!("trust the library {}: {why}\n{said}", library.display()),
        ));
    }
    Ok(())
}

/// What a program did.
#[derive(Debug, PartialEq, Eq)]
struct Behaviour {
    end: End,
    output: Vec<u8>,
    errors: Vec<u8>,
}

fn variables(library: &Path, rules: &str) -> [(OsString, OsString); 2] {
    let variable = os::loader::preload_variable().unwrap_or("LD_PRELOAD");
    [(variable.into(), library.into()), (VARIABLE.into(), rules.into())]
}

fn observe(
    launcher: &mut Launcher,
    words: &[&str],
    variables: &[(OsString, OsString)],
    inherited: bool,
) -> Result<Behaviour, Failure> {
    let (output, errors) = (
        os::memory::capped_file(LARGEST)?,
        os::memory::capped_file(LARGEST)?,
    );
    let mut spec = Spec::new(words[0]).args(&words[1..]);
    spec.env
        .retain(|(name, _)| inherited && variables.iter().all(|(ours, _)| ours != name));
    spec.env.extend_from_slice(variables);
    spec.stdout = Sink::File(output.try_clone()?);
    spec.stderr = Sink::File(errors.try_clone()?);
    spec.timeout = Some(Duration::from_secs(20));
    let outcome = launcher
        .run(&spec)
        .map_err(|error| launch_failure(&error, words[0]))?;
    Ok(Behaviour {
        end: outcome.end,
        output: written(output)?,
        errors: written(errors)?,
    })
}

fn written(mut file: std::fs::File) -> std::io::Result<Vec<u8>> {
    let length = os::memory::written_len(&file)?;
    file.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}
