//! The reports of inspected files, from documents as other programs get them.

use std::path::Path;

use record::format::inspect::Document;
use underhood_report::inspect;

use crate::snapshots::both;

fn document(name: &str) -> Document {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/samples")
        .join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    let document: Document = serde_json::from_str(&text).unwrap();
    // Nothing in it that the document has no key for.
    let again = serde_json::to_value(&document).unwrap();
    assert_eq!(again, serde_json::from_str::<serde_json::Value>(&text).unwrap());
    document
}

#[test]
fn elf_files() {
    for name in ["inspect_elf_alone", "inspect_elf_closure", "inspect_elf_heap"] {
        both(name, &inspect::elf::report(&document(&format!("{name}.json"))));
    }
}
