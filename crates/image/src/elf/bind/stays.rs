//! Which objects keep their original files, at an address that is not known beforehand.

use object::LittleEndian as LE;

use super::super::closure::{Closure, Role};
use super::super::lookup::Linker;
use super::super::moving::{self, Immovable};
use super::super::{Image, Unreadable};
use super::Refusal;

/// Why an object is not moved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stays {
    /// It is the loader.
    #[error("it is the loader")]
    Loader,
    /// It belongs to the C library, which stays at random addresses.
    #[error("it belongs to the C library, which stays where the kernel puts it")]
    CLibrary,
    /// It is loaded by the system's wish, before any other (`/etc/ld.so.preload`).
    #[error("the system loads it before all others (/etc/ld.so.preload)")]
    Preloaded,
    /// Its file cannot be changed.
    #[error(transparent)]
    Immovable(#[from] Immovable),
    /// Its code looks for files beside its own one.
    #[error("it names files by where it lies ($ORIGIN in its data)")]
    Origin,
    /// It needs another one under a name that only that one's file has.
    #[error("it is needed as {0}, which is not what it calls itself, by a file that stays as it is")]
    Alias(String),
}

/// The parts of glibc that have no need of its private interfaces, by the begin of their names.
const FAMILY: [&str; 6] = [
    "libpthread.so.",
    "libdl.so.",
    "librt.so.",
    "libutil.so.",
    "libanl.so.",
    "libnss_",
];

/// The versions by which the parts of glibc know each other.
const PRIVATE: &[u8] = b"GLIBC_PRIVATE";

/// Decides for each object.
pub(super) fn of(closure: &Closure, linker: &Linker<'_>) -> Result<Vec<Option<Stays>>, Refusal> {
    let mut all = Vec::new();
    for (object, (image, symbols)) in closure.objects.iter().zip(linker.tables()) {
        let stays = match object.role {
            Role::Loader => Some(Stays::Loader),
            Role::Preloaded => Some(Stays::Preloaded),
            Role::Program => own(image),
            Role::Library => {
                let soname = object.wishes.soname.as_deref().unwrap_or_default();
                let named = FAMILY.iter().any(|name| soname.starts_with(name));
                if named || symbols.versions.are_any(PRIVATE) {
                    Some(Stays::CLibrary)
                } else {
                    own(image)
                }
            }
        };
        all.push(stays);
    }
    if let Some(Some(stays)) = all.first() {
        return Err(Refusal::Program(stays.clone()));
    }
    aliases(closure, &mut all);
    Ok(all)
}

fn own(image: &Image<'_>) -> Option<Stays> {
    if let Err(why) = moving::check(image) {
        return Some(why.into());
    }
    names_its_place(image).unwrap_or(false).then_some(Stays::Origin)
}

/// Whether `$ORIGIN` stands in what is loaded, elsewhere than among the names that the loader reads.
fn names_its_place(image: &Image<'_>) -> Result<bool, Unreadable> {
    let dynamic = &image.dynamic;
    let names = dynamic.strings..dynamic.strings.saturating_add(dynamic.strings_size);
    for segment in image.loads() {
        let contents = image.contents(segment)?;
        let begin = segment.p_vaddr.get(LE);
        let mut at = 0;
        while let Some(found) = contents
            .get(at..)
            .and_then(|rest| rest.iter().position(|&byte| byte == b'$'))
        {
            at += found + 1;
            let rest = contents.get(at..).unwrap_or_default();
            let is_it = rest.starts_with(b"ORIGIN") || rest.starts_with(b"{ORIGIN}");
            if is_it && !names.contains(&begin.saturating_add(at as u64)) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// A file that stays asks for others by the names that it always had. Where such a name is not the other's own (`DT_SONAME`),
/// the loader would look for a file of this name, and find the original.
fn aliases(closure: &Closure, all: &mut [Option<Stays>]) {
    loop {
        let mut more = Vec::new();
        for search in &closure.searches {
            let Some(found) = search.found() else {
                continue;
            };
            let stays = |object: usize| all.get(object).is_some_and(Option::is_some);
            let own = closure
                .objects
                .get(found)
                .and_then(|object| object.wishes.soname.as_deref());
            if stays(search.needed_by) && !stays(found) && own != Some(&*search.name) {
                more.push((found, search.name.clone()));
            }
        }
        if more.is_empty() {
            return;
        }
        for (object, name) in more {
            if let Some(place) = all.get_mut(object) {
                *place = Some(Stays::Alias(name));
            }
        }
    }
}
