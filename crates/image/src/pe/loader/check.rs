//! The judge: is a loaded image right?
//!
//! Nothing of the loader's search is used. Exports are put into maps, and each image is made again from its file: the sections,
//! every fixup's target moved by the distance, every slot with the address of its export. Every byte must be the same.

use std::collections::HashMap;

use super::super::exports::{Target, forwarded};
use super::super::fixups::Type;
use super::super::imports::{Symbol, width};
use super::super::patch::{put, put_word};
use super::super::view::entry;
use super::super::{File, Unreadable, View};
use super::module::map;
use super::resolve::{hash_of_library, of_system};
use super::{Loaded, Plan, Refused};

/// So many differences are told for each file.
const TOLD: usize = 8;

/// What was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Slots that hold the address of what they name.
    pub slots: u64,
    /// Fixups that moved their target by exactly the distance.
    pub fixups: u64,
    /// Bytes compared.
    pub bytes: u64,
    /// What differs; empty when all is right.
    pub differences: Vec<String>,
}

/// The exports of a file by name and by number.
struct Exports<'a> {
    by_name: HashMap<&'a [u8], Target<'a>>,
    by_number: HashMap<u32, Target<'a>>,
}

impl<'a> Exports<'a> {
    fn of(file: &'a File<'_>) -> Result<Self, Unreadable> {
        let list = file.exports()?.exports;
        let named = |export: &super::super::exports::Export<'a>| Some((export.name?, export.target));
        Ok(Self {
            by_name: list.iter().filter_map(named).collect(),
            by_number: list
                .iter()
                .map(|export| (export.ordinal, export.target))
                .collect(),
        })
    }

    fn get(&self, symbol: Symbol<'_>) -> Option<Target<'a>> {
        match symbol {
            Symbol::Name { name, .. } => self.by_name.get(name).copied(),
            Symbol::Ordinal(ordinal) => self.by_number.get(&ordinal.into()).copied(),
        }
    }
}

/// Compares all images of `loaded` with what they must be.
///
/// # Errors
/// When a file cannot be read, which [`Plan::new`] would have told. Differences are no errors.
pub fn check(plan: &Plan<'_>, loaded: &Loaded) -> Result<Checked, Refused> {
    let mut checked = Checked::default();
    let mut exports = HashMap::new();
    let mut bases = HashMap::new();
    for module in &loaded.modules {
        let Some(file) = plan.files.get(module.file) else {
            continue;
        };
        bases.insert(module.file, module.base);
        exports.insert(
            module.file,
            Exports::of(file).map_err(plan.unreadable(module.file))?,
        );
    }
    let address = |library: &[u8], symbol: Symbol<'_>, wide| {
        let (mut library, mut symbol) = (library.to_vec(), symbol);
        for _ in 0..plan.files.len() + 1 {
            let Some(file) = plan.find(&library) else {
                return Some(of_system(hash_of_library(&library), symbol, wide));
            };
            match exports.get(&file)?.get(symbol)? {
                Target::Address(rva) => return Some(bases.get(&file)?.wrapping_add(rva.into())),
                Target::Forwarder(text) => {
                    let (next, name) = forwarded(text)?;
                    (library, symbol) = (next.to_vec(), name);
                }
            }
        }
        None
    };
    for module in &loaded.modules {
        let Some(file) = plan.files.get(module.file) else {
            continue;
        };
        let mut differences = Vec::new();
        let expected = expected(file, module.base, &address, &mut checked, &mut differences)
            .map_err(plan.unreadable(module.file))?;
        checked.bytes += expected.len() as u64;
        if expected.len() != module.image.len() {
            differences.push("the image has another size".to_owned());
        }
        for (rva, (is, must)) in module.image.iter().zip(&expected).enumerate() {
            if is != must && differences.len() < TOLD {
                differences.push(format!("at {rva:#x}: {is:#04x} and not {must:#04x}"));
            }
        }
        let name = plan.name(module.file);
        checked
            .differences
            .extend(differences.into_iter().map(|text| format!("{name}: {text}")));
    }
    Ok(checked)
}

/// The image that a file must have at `base`.
fn expected<'a>(
    file: &'a File<'_>,
    base: u64,
    address: &impl Fn(&[u8], Symbol<'a>, bool) -> Option<u64>,
    checked: &mut Checked,
    differences: &mut Vec<String>,
) -> Result<Vec<u8>, Unreadable> {
    let wide = file.headers.wide;
    let mut image = map(file, Vec::new())?;
    let distance = base.wrapping_sub(file.headers.base);
    if distance != 0 {
        for fixup in file.fixups()?.iter().flat_map(|page| &page.fixups) {
            let at = fixup.rva;
            let old = match fixup.kind.width() {
                2 => image.u16(at).map(u64::from),
                4 => image.u32(at).map(u64::from),
                _ => image.u64(at),
            };
            let old = old.ok_or(Unreadable::Damaged("a base relocation lies outside the image"))?;
            match fixup.kind {
                Type::Dir64 => put(&mut image, at as usize, &old.wrapping_add(distance).to_le_bytes())?,
                Type::HighLow => {
                    let new = (old as u32).wrapping_add(distance as u32);
                    put(&mut image, at as usize, &new.to_le_bytes())?;
                }
                Type::Low => put(
                    &mut image,
                    at as usize,
                    &(old.wrapping_add(distance) as u16).to_le_bytes(),
                )?,
                Type::High | Type::HighAdjusted => {
                    let low = i64::from(fixup.low.cast_signed())
                        + if fixup.kind == Type::High { 0 } else { 0x8000 };
                    let sum = (old << 16)
                        .wrapping_add(low.cast_unsigned())
                        .wrapping_add(distance);
                    put(&mut image, at as usize, &((sum >> 16) as u16).to_le_bytes())?;
                }
                Type::Absolute | Type::Other(_) => {}
            }
            checked.fixups += 1;
        }
    }
    for import in file.imports()? {
        for (index, &symbol) in import.symbols.iter().enumerate() {
            let slot = entry(import.descriptor.slots, index as u32, width(wide))
                .ok_or(Unreadable::Damaged("a list of imports is cut off"))?;
            match address(import.library, symbol, wide) {
                Some(address) => {
                    put_word(&mut image, slot as usize, address, wide)?;
                    checked.slots += 1;
                }
                None if differences.len() < TOLD => differences.push(format!(
                    "{symbol} of {} is nowhere",
                    String::from_utf8_lossy(import.library)
                )),
                None => {}
            }
        }
    }
    Ok(image)
}
