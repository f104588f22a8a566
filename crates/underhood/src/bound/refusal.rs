//! Programs that are not bound, and what a person should know about those that are.

use std::path::Path;

use image::elf::closure::Closure;
use image::elf::search::Outcome;
use memchr::memmem;
use os::loader::Linkage;
use record::format::bound::Stamp;

use crate::exit::{COMMAND_FAILED, Failure, UNSUPPORTED};

/// How programs ask where their file lies.
const OWN_FILE: [&[u8]; 3] = [b"/proc/self/exe", b"/proc/%d/exe", b"/proc/%i/exe"];

/// Looks at the program itself. What to tell about it.
pub fn check(program: &Path, bytes: &[u8], noticing: bool) -> Result<Vec<String>, Failure> {
    let name = program.display();
    let refused = |why: &str| Err(Failure::new(UNSUPPORTED, format!("bind {name}: {why}")));
    let kind =
        os::loader::classify(program).map_err(|error| Failure::new(COMMAND_FAILED, error.to_string()))?;
    if kind.setuid || kind.setgid || kind.file_caps {
        return refused("it runs with more rights than its user has, and a copy of it must not exist");
    }
    // What has no libraries is refused for that.
    let dynamic = matches!(kind.linkage, Linkage::Dynamic { .. });
    let asks = |text: &&[u8]| memmem::find(bytes, text).is_some();
    if dynamic && OWN_FILE.iter().any(asks) {
        if !noticing {
            return refused(
                "it asks where its own file lies (/proc/self/exe), and would find the copy; --noticing binds it all the same",
            );
        }
        return Ok(vec![format!(
            "{name} asks where its own file lies (/proc/self/exe), and finds the copy."
        )]);
    }
    Ok(Vec::new())
}

/// Looks at its libraries. What to tell about them.
pub fn closure(closure: &Closure) -> Result<Vec<String>, Failure> {
    let mut curious = Vec::new();
    for object in closure.objects.iter().skip(2) {
        if OWN_FILE
            .iter()
            .any(|text| memmem::find(&object.bytes, text).is_some())
        {
            curious.push(object.path.as_str());
        }
    }
    let relative = closure
        .searches
        .iter()
        .flat_map(|search| &search.places)
        .find(|place| !place.path.starts_with('/'));
    if let Some(place) = relative {
        return Err(Failure::new(
            UNSUPPORTED,
            format!(
                "bind the program: which library it gets depends on the folder in which it is started ({})",
                place.path
            ),
        ));
    }
    // The kernel does not tell programs all that these folders are chosen by, so the guard could not see another processor.
    let chosen = closure
        .objects
        .iter()
        .find(|object| object.path.contains("/glibc-hwcaps/"));
    if let Some(object) = chosen {
        return Err(Failure::new(
            UNSUPPORTED,
            format!(
                "bind the program: {} was chosen for this processor (glibc-hwcaps), and nothing cheap tells at start whether it still is the same",
                object.path
            ),
        ));
    }
    if curious.is_empty() {
        return Ok(Vec::new());
    }
    Ok(vec![format!(
        "These libraries can ask where the program's file lies (/proc/self/exe), and would find the copy: {}.",
        curious.join(", ")
    )])
}

/// Where the loader looked and found nothing: if something appears there, another library would be loaded.
pub fn absent(closure: &Closure) -> Vec<String> {
    let mut paths: Vec<String> = closure
        .searches
        .iter()
        .flat_map(|search| &search.places)
        .filter(|place| place.outcome == Outcome::Missing)
        .map(|place| place.path.clone())
        .collect();
    paths.sort();
    paths.dedup();
    paths
}

/// Where the loader looked and found something that it passed over.
pub fn passed_over(closure: &Closure) -> Vec<String> {
    closure
        .searches
        .iter()
        .flat_map(|search| &search.places)
        .filter(|place| !matches!(place.outcome, Outcome::Missing | Outcome::Found))
        .map(|place| place.path.clone())
        .collect()
}

/// What tells this version of a file from another.
pub fn stamp(path: &Path) -> Result<Stamp, Failure> {
    let stamp = os::files::stamp(path)
        .map_err(|error| Failure::new(COMMAND_FAILED, format!("look at {}: {error}", path.display())))?;
    Ok(Stamp {
        device: stamp.device,
        inode: stamp.inode,
        size: stamp.size,
        seconds: stamp.seconds,
        nanoseconds: stamp.nanoseconds,
    })
}
