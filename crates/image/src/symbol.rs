//! Where a file says that one of its functions is.

use object::{Object, ObjectSymbol, SymbolKind};

/// The address of the defined function `name`, from the symbol table or, where that was stripped, from the dynamic one: as
/// linked for ELF, from the beginning of the image for PE. `None` when there is none, or the file is damaged.
#[must_use]
pub fn address(bytes: &[u8], name: &str) -> Option<u64> {
    let file = object::File::parse(bytes).ok()?;
    let base = match file.format() {
        object::BinaryFormat::Pe => file.relative_address_base(),
        _ => 0,
    };
    file.symbols()
        .chain(file.dynamic_symbols())
        .find(|symbol| {
            symbol.is_definition() && symbol.kind() == SymbolKind::Text && symbol.name() == Ok(name)
        })
        .map(|symbol| symbol.address().wrapping_sub(base))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_test_program_has_a_main_and_nonsense_has_none() {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(address(&bytes, "main").is_some());
        assert_eq!(address(&bytes, "no such function"), None);
        assert_eq!(address(b"MZ and nothing more", "main"), None);
    }
}
