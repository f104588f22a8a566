//! What the copies call their loader, their libraries and their folders.
//!
//! The program's copy needs all objects by path, in the order in which the loader would have come to them, so nothing is
//! searched, and the order in which symbols are searched is the same. What the libraries need is then known by name already.

use super::super::closure::{Role, Search};
use super::super::moving::Texts;
use super::super::search::Loader;
use super::super::tokens;
use super::super::view::lossy;
use super::{Choice, Wishes};

pub(super) fn of(choice: &Choice<'_>, loader: &Loader, wishes: Wishes<'_>) -> Vec<Texts> {
    let objects = &choice.closure.objects;
    (0..objects.len())
        .map(|object| {
            if !choice.moves(object) {
                return Texts::default();
            }
            let mut texts = folders(choice, object, loader);
            if object == 0 {
                let needed = choice.closure.scope.iter().skip(1).copied();
                let needed = needed
                    .filter(|&other| {
                        objects
                            .get(other)
                            .is_some_and(|other| other.role != Role::Preloaded)
                    })
                    .map(|other| name(choice, other, wishes));
                texts.needed = Some(needed.chain(unsaid(choice)).collect());
                texts.interpreter = Some(wishes.interpreter.to_owned());
            } else {
                texts.needed = needed(choice, object, wishes);
            }
            texts
        })
        .collect()
}

/// The names that only the program uses. They find what is loaded by path already; but unless somebody asks by name, the
/// loader does not learn the name, and then misses it when it checks the versions.
fn unsaid(choice: &Choice<'_>) -> impl Iterator<Item = String> {
    let searches = &choice.closure.searches;
    let said = |name: &str| {
        searches
            .iter()
            .any(|search| search.needed_by != 0 && search.name == name)
    };
    searches
        .iter()
        .filter(move |search| {
            search.needed_by == 0 && !said(&search.name) && own_name(choice, search).is_some()
        })
        .map(|search| search.name.clone())
}

/// The name of a search, if it is what the found object calls itself (`DT_SONAME`).
fn own_name<'a>(choice: &Choice<'_>, search: &'a Search) -> Option<&'a str> {
    let found = choice.closure.objects.get(search.found()?)?;
    (found.wishes.soname.as_deref() == Some(&*search.name)).then_some(&search.name)
}

/// The name by which the loader takes an object without searching: a path, or for the loader itself its own name.
fn name(choice: &Choice<'_>, object: usize, wishes: Wishes<'_>) -> String {
    let Some(which) = choice.closure.objects.get(object) else {
        return String::new();
    };
    if choice.moves(object) {
        return (wishes.path_of)(object);
    }
    match (which.role, &which.wishes.soname) {
        (Role::Loader, Some(soname)) => soname.clone(),
        _ => which.path.clone(),
    }
}

/// The needs of a library, if one of them goes by another name than its own.
fn needed(choice: &Choice<'_>, object: usize, wishes: Wishes<'_>) -> Option<Vec<String>> {
    let mut changed = false;
    let searches = choice.closure.searches.iter();
    let names = searches
        .filter(|search| search.needed_by == object)
        .filter_map(|search| {
            if own_name(choice, search).is_some() {
                return Some(search.name.clone());
            }
            changed = true;
            Some(name(choice, search.found()?, wishes))
        })
        .collect();
    changed.then_some(names)
}

/// The search paths, if they depend on where the file lies: the copy lies elsewhere.
fn folders(choice: &Choice<'_>, object: usize, loader: &Loader) -> Texts {
    let mut texts = Texts::default();
    let (Some(which), Some((image, _))) = (
        choice.closure.objects.get(object),
        choice.linker.tables().nth(object),
    ) else {
        return texts;
    };
    let expanded = |offset: Option<u64>| {
        let path = lossy(image.text(offset?));
        let part = |part: &str| {
            tokens::expand(part, &which.origin, object == 0, loader).unwrap_or_else(|| part.to_owned())
        };
        tokens::contains(&path).then(|| path.split(':').map(part).collect::<Vec<_>>().join(":"))
    };
    texts.rpath = expanded(image.dynamic.rpath);
    texts.runpath = expanded(image.dynamic.runpath);
    texts
}
