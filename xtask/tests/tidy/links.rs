//! Links in documents lead somewhere.

use std::path::Path;

use crate::files::{root, sources};
use crate::{at, complain};

#[test]
fn links_between_documents_resolve() {
    let mut complaints = Vec::new();
    for source in sources()
        .iter()
        .filter(|source| source.path.extension().is_some_and(|e| e == "md"))
    {
        let folder = source.path.parent().unwrap_or(Path::new(""));
        for (index, line) in source.lines() {
            for target in targets(line) {
                let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
                if target.contains("://") || target.starts_with("mailto:") {
                    continue;
                }
                let path = if file.is_empty() {
                    source.path.clone()
                } else {
                    folder.join(file)
                };
                let full = root().join(&path);
                if !full.exists() {
                    complaints.push(format!("{}: {file} does not exist", at(&source.path, index)));
                } else if !anchor.is_empty() && !has_heading(&full, anchor) {
                    complaints.push(format!(
                        "{}: {} has no heading for #{anchor}",
                        at(&source.path, index),
                        path.display()
                    ));
                }
            }
        }
    }
    complain(
        &complaints,
        "Correct the path (relative to the document) or the anchor (the heading in lower case, blanks as -).",
    );
}

/// The targets of `[text](target)` in a line.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

/// Whether a document has a heading that renders to this anchor.
fn has_heading(path: &Path, anchor: &str) -> bool {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter(|line| line.starts_with('#')).any(|line| {
        let heading = line.trim_start_matches('#').trim();
        let rendered: String = heading
            .to_lowercase()
            .chars()
            .filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'))
            .map(|letter| if letter == ' ' { '-' } else { letter })
            .collect();
        rendered == anchor
    })
}
