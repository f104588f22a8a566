//! Which heap a program gets, why, and whether it can be given another.
//!
//! The loader binds `malloc` to the first definition in its order: the program's own, then a preloaded one, then those
//! of its libraries, the C library's last. That is found here as the loader would find it. Whether another heap can be
//! preloaded is decided where `tune` decides it.

use std::path::Path;

use image::elf::Image;
use image::elf::lookup::Linker;
use os::loader::{Linkage, Program};
use record::format::inspect::elf::Heap;

use crate::exit::{COMMAND_FAILED, Failure};

/// The heap of a program.
pub fn of(path: &Path, bytes: &[u8]) -> Result<Heap, Failure> {
    let program =
        os::loader::classify(path).map_err(|error| Failure::new(COMMAND_FAILED, error.to_string()))?;
    let obstacle = suites::remedy::general_obstacle(&program).map(|obstacle| sentence(&obstacle.reason));
    let (heap, provider, reason) = match &program.linkage {
        Linkage::Static | Linkage::StaticPie => inside(&program),
        Linkage::Dynamic { .. } => found(path, bytes, &program)?,
        Linkage::Library | Linkage::Unknown => (
            "unknown".to_owned(),
            None,
            "It is a library: the program that loads it decides which heap both use.".to_owned(),
        ),
    };
    Ok(Heap {
        heap,
        provider,
        reason,
        replaceable: obstacle.is_none(),
        obstacle,
    })
}

type Answer = (String, Option<String>, String);

/// The heap of a static program.
fn inside(program: &Program) -> Answer {
    if program.go {
        return go();
    }
    match &program.own_heap {
        Some(own) => (
            own.clone(),
            None,
            format!("It is statically linked and contains functions of {own}."),
        ),
        None => (
            "libc".to_owned(),
            None,
            "It is statically linked: the heap of the C library is part of it, as far as its symbols and texts tell.".to_owned(),
        ),
    }
}

fn go() -> Answer {
    (
        "go".to_owned(),
        None,
        "It is made by Go, whose runtime manages the memory of Go values itself.".to_owned(),
    )
}

/// The heap of a dynamic program: whose `malloc` the loader binds.
fn found(path: &Path, bytes: &[u8], program: &Program) -> Result<Answer, Failure> {
    let name = path.display().to_string();
    let failed = |error| super::unreadable(&name, &error);
    let image = Image::parse(bytes).map_err(failed)?;
    let (closure, _) = super::load(path, bytes, &image, super::Wishes::OfTheUser)?;
    let linker = Linker::new(&closure).map_err(failed)?;
    let target = linker.find("malloc").map_err(failed)?;
    let object = target.and_then(|target| closure.objects.get(target.object));
    if program.go {
        return Ok(go());
    }
    if let Some(object) = object
        && object.path == name
    {
        // Its name, where more than malloc betrays it.
        let own = named_heap(program);
        return Ok((
            own.unwrap_or("own").to_owned(),
            None,
            "It defines malloc itself, and the loader takes the program's definition before all others."
                .to_owned(),
        ));
    }
    if let Some(own) = named_heap(program) {
        let where_from = object
            .map(|object| format!("; its malloc is that of {}", object.path))
            .unwrap_or_default();
        return Ok((
            own.to_owned(),
            object.map(|object| object.path.clone()),
            format!("It brings {own} along, by what it defines or needs{where_from}."),
        ));
    }
    let Some(object) = object else {
        return Ok((
            "unknown".to_owned(),
            None,
            "Nothing that is loaded at its start defines malloc.".to_owned(),
        ));
    };
    let provider = Path::new(&object.path);
    let file = provider.file_name().unwrap_or_default().to_string_lossy();
    let heap = if file.starts_with("libc.so") || file.starts_with("libc-") {
        "libc".to_owned()
    } else {
        os::loader::classify(provider)
            .ok()
            .and_then(|library| library.own_heap)
            .unwrap_or_else(|| file.split(".so").next().unwrap_or(&file).to_owned())
    };
    let mut reason = format!(
        "The first definition of malloc in the loader's order of search is that of {}.",
        object.path
    );
    if program
        .needed
        .iter()
        .any(|name| name.starts_with("libjli.") || name.starts_with("libjvm."))
    {
        reason.push_str(" The Java machine keeps Java objects in a heap of its own beside it.");
    }
    Ok((heap, Some(object.path.clone()), reason))
}

/// The name of the heap that a program brings along, if it has one.
fn named_heap(program: &Program) -> Option<&str> {
    program.own_heap.as_deref().filter(|own| !own.contains(' '))
}

/// A reason as a sentence of its own.
fn sentence(reason: &str) -> String {
    let mut letters = reason.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}
