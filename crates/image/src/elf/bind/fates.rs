//! How each reference is bound.

use object::LittleEndian as LE;
use object::elf;

use super::super::lookup::{Resolution, Target};
use super::super::relocations::Kind;
use super::super::symbols::Symbol;
use super::{Choice, Refusal};

/// Where the address comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The object that the symbol is in, as an index in the closure.
    Object(usize),
    /// Nothing: the value is a number (absolute symbols, and what nothing defines).
    Number,
}

/// A word that is known but for the address of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bind {
    /// What is to be added to.
    pub source: Source,
    /// What is to be added: the symbol's place in the object's own terms, and the relocation's addend.
    pub value: u64,
    /// The sum is not the word but a function that answers with it.
    pub chosen: bool,
}

/// Decides for each object.
pub(super) fn of(choice: &Choice<'_>) -> Result<Vec<Vec<(u64, Bind)>>, Refusal> {
    let mut binds = vec![Vec::new(); choice.closure.objects.len()];
    let below = below(choice);
    choice.linker.resolve(&mut |resolution| {
        if choice.moves(resolution.object)
            && let Some(bind) = bind(choice, resolution, &below)
            && let Some(binds) = binds.get_mut(resolution.object)
        {
            binds.push((resolution.relocation.offset, bind));
        }
    })?;
    Ok(binds)
}

/// None for what stays a relocation.
fn bind(choice: &Choice<'_>, resolution: &Resolution<'_>, below: &[Vec<usize>]) -> Option<Bind> {
    let relocation = resolution.relocation;
    let addend = match relocation.kind {
        Kind::Absolute => relocation.addend,
        // The loader adds nothing here; a file that has something to add is odd, and left to it.
        Kind::GlobDat | Kind::JumpSlot if relocation.addend == 0 => 0,
        _ => return None,
    };
    let Some(target) = resolution.target else {
        // What is called later may be defined by then.
        return (resolution.weak && !resolution.lazy).then_some(Bind {
            source: Source::Number,
            value: addend.cast_unsigned(),
            chosen: false,
        });
    };
    let symbol = choice.linker.symbol(target)?;
    if symbol.tls {
        return None;
    }
    let value = symbol.value.wrapping_add(addend.cast_unsigned());
    if is_absolute(choice, target) {
        return Some(Bind {
            source: Source::Number,
            value,
            chosen: false,
        });
    }
    if symbol.ifunc && !may_choose(choice, resolution, &symbol, target, below) {
        return None;
    }
    Some(Bind {
        source: Source::Object(target.object),
        value,
        chosen: symbol.ifunc,
    })
}

/// Whether a function that chooses an implementation can be asked by the one who fills the word in: it must be in an object that
/// floats (what moves is left to the loader, which knows when it is ready), and that object must be relocated before this one.
fn may_choose(
    choice: &Choice<'_>,
    resolution: &Resolution<'_>,
    symbol: &Symbol<'_>,
    target: Target,
    below: &[Vec<usize>],
) -> bool {
    let plain = resolution.relocation.addend == 0 && symbol.defined;
    let ready = below
        .get(resolution.object)
        .is_some_and(|below| below.contains(&target.object));
    plain && ready && !choice.moves(target.object)
}

fn is_absolute(choice: &Choice<'_>, target: Target) -> bool {
    let symbols = choice
        .linker
        .tables()
        .nth(target.object)
        .map(|(_, symbols)| symbols);
    symbols
        .and_then(|symbols| symbols.entry(target.symbol))
        .is_some_and(|entry| entry.st_shndx.get(LE) == elf::SHN_ABS)
}

/// For each object all that it needs, directly or not.
fn below(choice: &Choice<'_>) -> Vec<Vec<usize>> {
    let objects = &choice.closure.objects;
    (0..objects.len())
        .map(|start| {
            let mut found = Vec::new();
            let mut next = vec![start];
            while let Some(object) = next.pop() {
                for &needed in objects.get(object).map_or(&[][..], |object| &object.needed) {
                    if !found.contains(&needed) {
                        found.push(needed);
                        next.push(needed);
                    }
                }
            }
            found
        })
        .collect()
}
