//! One word, one meaning: the words that the code is built from are in the glossary.

use crate::complain;
use crate::files::{rust, sources};

/// Words that have an entry, and that some type or trait of the code is named by (`true`) or not.
const WORDS: &[(&str, bool)] = &[
    ("Suite", false),
    ("Benchmark", true),
    ("Parameter", true),
    ("Sweep", false),
    ("Subject", true),
    ("Remedy", true),
    ("Case", true),
    ("Metric", true),
    ("Iteration", false),
    ("Sample", false),
    ("Trial", true),
    ("Measurement", true),
    ("Run", true),
    ("Environment", true),
    ("Summary", true),
    ("Estimate", true),
    ("Comparison", true),
    ("Verdict", true),
    ("Finding", false),
    ("Support", true),
    ("Warning", true),
    ("Block", true),
    ("Arm", false),
];

#[test]
fn the_glossary_explains_each_word() {
    let glossary = sources()
        .iter()
        .find(|source| source.path.ends_with("docs/GLOSSARY.md"))
        .expect("docs/GLOSSARY.md");
    let complaints: Vec<_> = WORDS
        .iter()
        .filter(|(word, _)| !glossary.text.contains(&format!("**{word}**")))
        .map(|(word, _)| format!("{word} has no entry"))
        .collect();
    complain(
        &complaints,
        "Add an entry to docs/GLOSSARY.md that begins with the word in bold.",
    );
}

#[test]
fn the_code_uses_the_words() {
    let mut complaints = Vec::new();
    for (word, _) in WORDS.iter().filter(|(_, in_code)| *in_code) {
        let definitions = ["struct", "enum", "trait"].map(|kind| format!("pub {kind} {word}"));
        let defined = |line: &str| {
            definitions.iter().any(|definition| {
                line.trim_start()
                    .strip_prefix(definition.as_str())
                    .is_some_and(|rest| {
                        !rest.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_')
                    })
            })
        };
        if !rust().any(|source| source.text.lines().any(defined)) {
            complaints.push(format!("no type or trait is called {word}"));
        }
    }
    complain(
        &complaints,
        "The glossary and the code have drifted apart: use the word in the code, or change the glossary.",
    );
}
