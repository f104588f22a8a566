//! The document of `image inspect` for PE files: what is stored is read, and written as it was.

use underhood_record::format::inspect::Document;
use underhood_record::format::to_text;

#[test]
fn stored_documents_are_read_and_written_as_they_were() {
    for (name, text) in [
        ("alone", include_str!("../golden/inspect_pe.json")),
        ("closure", include_str!("../golden/inspect_pe_closure.json")),
        ("heap", include_str!("../golden/inspect_pe_heap.json")),
    ] {
        let text = text.replace("\r\n", "\n");
        let document: Document = serde_json::from_str(&text).unwrap();
        assert_eq!(to_text(&document), text, "{name}");
        let inspection = document.pe.unwrap();
        assert_eq!(inspection.closure.is_some(), name == "closure");
        assert_eq!(inspection.heap.is_some(), name == "heap");
    }
}
