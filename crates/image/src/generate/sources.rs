//! The C sources of a set: readable, since whoever doubts a figure will look.

use std::fmt::Write as _;

use super::{Format, Import, References, Set, names};

/// A text file of the set: its name in the folder, and what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The file's name.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// All sources of a set.
#[must_use]
pub fn of(set: &Set) -> Vec<Source> {
    let mut sources = vec![Source {
        name: "app.c".to_owned(),
        text: program(set),
    }];
    sources.extend((1..=set.libraries).map(|part| Source {
        name: format!("lib{part}.c"),
        text: library(set, part),
    }));
    if set.format == Format::Pe {
        sources.extend(set.files().into_iter().map(|(base, parts)| Source {
            name: format!("{base}.def"),
            text: definitions(set, &base, &parts),
        }));
    }
    sources
}

/// The program: it refers to every function, and calls none of them.
fn program(set: &Set) -> String {
    let mut text = String::from(
        "/* Loads everything and does nothing. The calls stand behind a condition that no compiler can\n\
         \x20  foresee: behind an unconditional exit they would be removed, and nothing would be loaded. */\n",
    );
    let import = if set.format == Format::Pe {
        "__declspec(dllimport) "
    } else {
        ""
    };
    for (part, index) in pairs(set) {
        let _ = writeln!(
            text,
            "{import}void {}(void);",
            names::function(set.naming, part, index)
        );
    }
    text.push_str(
        "\nint main(int argc, char **argv) {\n    (void)argv;\n    if (argc < 1000000)\n        return 0;\n",
    );
    for (part, index) in pairs(set) {
        let _ = writeln!(text, "    {}();", names::function(set.naming, part, index));
    }
    text.push_str("    return 1;\n}\n");
    text
}

fn pairs(set: &Set) -> impl Iterator<Item = (u32, u32)> {
    (1..=set.libraries).flat_map(|part| (1..=set.functions).map(move |index| (part, index)))
}

fn library(set: &Set, part: u32) -> String {
    let mut text = format!("/* Library {part} of {}. */\n", set.libraries);
    let export = match set.format {
        Format::Pe => "",
        Format::Elf if set.protected => "__attribute__((visibility(\"protected\"))) ",
        Format::Elf => "__attribute__((visibility(\"default\"))) ",
    };
    // A variable that is not exported is addressed relative to the code.
    let scope = match set.references {
        References::Symbol if set.format == Format::Elf => export,
        _ => "static ",
    };
    let crosses = |index: u32| part > 1 && index <= set.cross;
    if part > 1 && set.cross > 0 {
        let import = if set.format == Format::Pe {
            "__declspec(dllimport) "
        } else {
            ""
        };
        let import = if set.files().len() == 1 { "" } else { import };
        for index in 1..=set.cross {
            let _ = writeln!(
                text,
                "{import}void {}(void);",
                names::function(set.naming, part - 1, index)
            );
        }
    }
    for index in 1..=set.functions {
        let name = names::function(set.naming, part, index);
        text.push('\n');
        for global in 0..set.globals {
            let _ = writeln!(
                text,
                "{scope}void *volatile {};",
                names::variable(part, index, global)
            );
        }
        let _ = writeln!(text, "{export}void {name}(void) {{");
        for global in 0..set.globals {
            let variable = names::variable(part, index, global);
            let _ = match set.references {
                // The address of an exported function would be one more symbol to look up.
                References::Table => writeln!(text, "    {variable} = (void *)&{variable};"),
                References::Code => writeln!(text, "    {variable} = (void *)&{name};"),
                References::Symbol => Ok(()),
            };
        }
        if crosses(index) {
            let _ = writeln!(text, "    {}();", names::function(set.naming, part - 1, index));
        }
        text.push_str("}\n");
    }
    if set.references != References::Code && set.globals > 0 {
        text.push_str(&table(set, part));
    }
    text
}

/// One pointer a reference. `used`: nobody reads it. Not constant: the linker is to leave it where data is.
fn table(set: &Set, part: u32) -> String {
    let mut text = format!(
        "\n/* The loader adjusts one pointer for each. */\n__attribute__((used)) static void *lib{part}_table[] = {{\n"
    );
    for index in 1..=set.functions {
        for global in 0..set.globals {
            let _ = writeln!(text, "    (void *)&{},", names::variable(part, index, global));
        }
    }
    text.push_str("};\n");
    text
}

/// The export list of a PE library.
fn definitions(set: &Set, base: &str, parts: &[u32]) -> String {
    let mut text = format!("LIBRARY {base}.dll\nEXPORTS\n");
    let mut ordinal = 0;
    for part in parts {
        for index in 1..=set.functions {
            ordinal += 1;
            let name = names::function(set.naming, *part, index);
            let _ = match set.import {
                Import::Name => writeln!(text, "    {name}"),
                Import::Ordinal => writeln!(text, "    {name} @{ordinal} NONAME"),
            };
        }
    }
    text
}
