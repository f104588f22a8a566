//! From a case to the set that it needs.

use std::path::PathBuf;

use image::generate::{Format, Import, Naming, References, Set};
use measure::model::{Case, Support};
use measure::parameter::{Kind, Parameter};
use measure::trial::TrialError;

use super::subject::{TREATMENTS, Treatment, WAYS};

/// The environment variable that tells the worker in which folder its set was built.
pub const FOLDER: &str = "UNDERHOOD_LOAD_SET";

/// The folder below it with the copies of a treated ELF set.
pub const TREATED: &str = "treated";

/// The benchmark whose sets are PE files.
pub(super) const PE: &str = "pe";

pub(super) const LIBRARIES: Parameter = Parameter {
    name: "libraries",
    default: "10",
    unit: "",
    summary: "libraries of the program",
    kind: Kind::Number { min: 1, max: 1000 },
};
pub(super) const FUNCTIONS: Parameter = Parameter {
    name: "functions",
    default: "100",
    unit: "",
    summary: "functions that each library exports and the program imports",
    kind: Kind::Number { min: 1, max: 10_000 },
};
pub(super) const GLOBALS: Parameter = Parameter {
    name: "globals",
    default: "5",
    unit: "",
    summary: "references to variables a function, each one relocation",
    kind: Kind::Number { min: 0, max: 1000 },
};
pub(super) const REFERENCES: Parameter = Parameter {
    name: "references",
    default: "table",
    unit: "",
    summary: "what a reference is: a relative relocation in a table, or a symbol to look up",
    kind: Kind::Word(&["table", "symbol"]),
};
pub(super) const NAME_LENGTH: Parameter = Parameter {
    name: "name_length",
    default: "0",
    unit: "",
    summary: "characters of a function's name, decorated as C++ does; 0 for plain C names",
    kind: Kind::Number { min: 0, max: 4096 },
};
pub(super) const CROSS: Parameter = Parameter {
    name: "cross",
    default: "0",
    unit: "",
    summary: "functions of each library that call one of the library before it",
    kind: Kind::Number { min: 0, max: 10_000 },
};

pub(super) const IMPORT: Parameter = Parameter {
    name: "import",
    default: "name+ordinal",
    unit: "",
    summary: "how the program names the functions that it imports",
    kind: Kind::Word(&["name", "ordinal"]),
};

/// The folder of the worker's set.
///
/// # Errors
/// When the main program named none.
pub(super) fn folder() -> Result<PathBuf, TrialError> {
    std::env::var_os(FOLDER)
        .map(PathBuf::from)
        .ok_or_else(|| TrialError::Case(format!("{FOLDER} names no folder")))
}

/// The program of the worker's set. A treated set of ELF has its copies in a folder of their own.
///
/// # Errors
/// When the main program named no folder.
pub(super) fn program() -> Result<PathBuf, TrialError> {
    let folder = folder()?;
    let treated = folder.join(TREATED).join("app");
    Ok(if treated.exists() {
        treated
    } else {
        folder.join("app")
    })
}

/// Whether the case has a set, and ELF files can be run here.
pub(super) fn elf_support(case: &Case) -> Support {
    if Set::default().format != Format::Elf {
        return Support::No("ELF programs and libraries are loaded on Linux".to_owned());
    }
    if treatment(case) != Treatment::None && cfg!(not(target_arch = "x86_64")) {
        return Support::No("ELF programs for x86-64 can be rebased and bound".to_owned());
    }
    of(case).map_or_else(Support::No, |_| Support::Yes)
}

/// What is done to a case's set after it was built.
#[must_use]
pub fn treatment(case: &Case) -> Treatment {
    TREATMENTS
        .iter()
        .find(|(name, ..)| *name == case.subject)
        .map_or(Treatment::None, |(_, treatment, _)| *treatment)
}

/// The set that a case of this suite is about.
///
/// # Errors
/// Why there is none: a parameter that does not fit, or the set's own limits.
pub fn of(case: &Case) -> Result<Set, String> {
    let number = |name: &str| -> Result<u32, String> {
        let text = case
            .parameter(name)
            .ok_or_else(|| format!("it has no parameter {name}"))?;
        text.parse().map_err(|_| format!("{name}={text} is not a number"))
    };
    let pe = case.benchmark == PE;
    let mut set = Set {
        format: if pe { Format::Pe } else { Format::Elf },
        import: match case.parameter("import") {
            Some("ordinal") => Import::Ordinal,
            _ => Import::Name,
        },
        libraries: number("libraries")?,
        functions: number("functions")?,
        globals: number("globals")?,
        cross: number("cross")?,
        references: match case.parameter("references") {
            Some("symbol") => References::Symbol,
            _ => References::Table,
        },
        naming: match number("name_length")? {
            0 => Naming::C,
            length => Naming::Cxx(length as usize),
        },
        ..Set::default()
    };
    if !pe && treatment(case) == Treatment::None {
        let way = WAYS
            .iter()
            .find(|way| way.name == case.subject)
            .ok_or_else(|| format!("{} is no way of linking", case.subject))?;
        (way.apply)(&mut set);
    }
    set.check().map_err(|refused| refused.to_string())?;
    Ok(set)
}

#[cfg(test)]
mod tests {
    use image::generate::Linkage;

    use super::*;

    fn case(subject: &str, name_length: &str) -> Case {
        let parameters = [
            ("libraries", "20"),
            ("functions", "1000"),
            ("globals", "20"),
            ("references", "table"),
            ("name_length", name_length),
            ("cross", "0"),
        ];
        Case {
            suite: "load".to_owned(),
            benchmark: "start".to_owned(),
            parameters: parameters
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .to_vec(),
            subject: subject.to_owned(),
        }
    }

    #[test]
    fn parameters_and_subject_make_the_set() {
        let set = of(&case("merged", "60")).unwrap();
        assert_eq!((set.libraries, set.functions, set.globals), (20, 1000, 20));
        assert_eq!((set.naming, set.linkage), (Naming::Cxx(60), Linkage::Merged));
        assert!(of(&case("stock", "0")).is_ok());
    }

    #[test]
    fn what_cannot_be_is_refused() {
        assert!(
            of(&case("prelinked", "0"))
                .unwrap_err()
                .contains("no way of linking")
        );
        assert!(
            of(&case("stock", "3")).is_err(),
            "too short to tell 20,000 names apart"
        );
    }
}
