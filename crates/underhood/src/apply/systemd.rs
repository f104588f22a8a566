//! Drop-ins: a remedy for one service of systemd.
//!
//! A service is started by systemd, not from a shell, so a launcher does not reach it; a file beside its unit does, and
//! survives updates of the package (systemd.unit(5)). A library for a service of the machine has to lie where the service
//! can read it, whatever user it runs as and however its home folders are hidden from it.

use suites::remedy::Remedy;

use super::launcher::lasting;
use super::ledger::{Ledger, Ours, Wanted};
use super::places::{Places, Scope};
use super::quote;
use crate::exit::{Failure, UNSUPPORTED};

/// Writes a drop-in for `unit` with `remedy` and returns what to tell the person. Root writes for the machine's services,
/// everybody else for their own.
///
/// # Errors
/// When the name is none of a service, or the file cannot be written.
pub fn write(unit: &str, remedy: &Remedy, force: bool) -> Result<String, Failure> {
    let is_root = os::files::own_attributes(0).user == 0;
    let scope = if is_root { Scope::System } else { Scope::User };
    write_to(&Places::of(scope, None)?, unit, remedy, force)
}

/// As [`write()`], to these places.
pub fn write_to(places: &Places, unit: &str, remedy: &Remedy, force: bool) -> Result<String, Failure> {
    let unit = unit_name(unit)?;
    if remedy.copy().is_some() {
        return Err(Failure::new(
            UNSUPPORTED,
            format!(
                "write a drop-in for {unit} with {}: a drop-in sets variables, and a bound copy is another file; make it with `underhood image bind` and name it in ExecStart",
                remedy.name
            ),
        ));
    }
    let path = places.unit_file(&unit);
    let (library, remedy) = lasting(places, remedy)?;
    let wanted = Wanted {
        path: path.clone(),
        ours: Ours::Whole(drop_in(&remedy).into_bytes()),
        mode: 0o644,
    };
    Ledger::of_file(places, &path).apply(
        &format!("drop-in for {unit} with {}", remedy.name),
        library.as_slice(),
        &[wanted],
        force,
    )?;
    let control = match places.scope {
        Scope::User => "systemctl --user",
        Scope::System => "systemctl",
    };
    Ok(format!(
        "wrote {path}: {unit} runs with {name} after `{control} daemon-reload` and `{control} restart {unit}`; \
         `underhood select --undo {path}` and the same two take it back",
        path = path.display(),
        name = remedy.name
    ))
}

/// The name of a service, with its suffix (systemd.unit(5), "Description").
fn unit_name(unit: &str) -> Result<String, Failure> {
    let stem = unit.strip_suffix(".service").unwrap_or(unit);
    let fits = |letter: char| letter.is_ascii_alphanumeric() || ":_.\\@-".contains(letter);
    if stem.is_empty() || stem.starts_with('.') || !stem.chars().all(fits) {
        return Err(Failure::usage(format!(
            "use {unit:?} as the name of a service; a right one is nginx.service"
        )));
    }
    Ok(format!("{stem}.service"))
}

/// The text of a drop-in.
fn drop_in(remedy: &Remedy) -> String {
    let name: String = remedy
        .name
        .chars()
        .filter(|letter| !letter.is_control())
        .collect();
    let mut text = format!("# Made by underhood: this service with {name}.\n[Service]\n");
    // A unit cannot add to a variable, so nothing is merged here.
    for (variable, value) in remedy.environment(&|_| None) {
        let setting = value.unwrap_or_default();
        let (variable, setting) = (variable.to_string_lossy(), setting.to_string_lossy());
        text.push_str(&format!(
            "Environment={}\n",
            quote::systemd_setting(&variable, &setting)
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use record::model::Support;
    use suites::remedy::{Kind, combine};

    use super::*;

    #[test]
    fn a_drop_in_is_written_below_its_unit_and_undone() {
        let root = tempfile::tempdir().unwrap();
        let places = Places::of(Scope::System, Some(root.path())).unwrap();
        let part = |name: &str, kind| Remedy {
            name: name.to_owned(),
            summary: String::new(),
            kind,
            available: Support::Yes,
        };
        let tunable = Kind::Tunable {
            name: "glibc.a.b".to_owned(),
            value: "1".to_owned(),
        };
        let heap = Kind::Heap {
            library: "/lib/heap%.so".into(),
        };
        let remedy = combine(vec![
            part("heap=/lib/heap%.so", heap),
            part("glibc.a.b=1", tunable),
        ])
        .unwrap();
        let said = write_to(&places, "web", &remedy, false).unwrap();
        assert!(said.contains("systemctl daemon-reload"), "{said}");
        let path = "/etc/systemd/system/web.service.d/60-underhood.conf";
        let text = std::fs::read_to_string(places.on_disk(path.as_ref())).unwrap();
        let preload = match os::loader::preload_variable() {
            Some(variable) => format!("Environment=\"{variable}=/lib/heap%%.so\"\n"),
            None => String::new(),
        };
        assert_eq!(
            text,
            format!(
                "# Made by underhood: this service with heap=/lib/heap%.so+glibc.a.b=1.\n[Service]\n{preload}\
                 Environment=\"GLIBC_TUNABLES=glibc.a.b=1\"\n"
            )
        );
        Ledger::of_file(&places, path.as_ref()).undo(false).unwrap();
        assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0);
    }

    #[test]
    fn names_of_services() {
        assert_eq!(unit_name("nginx").unwrap(), "nginx.service");
        assert_eq!(unit_name("getty@tty1.service").unwrap(), "getty@tty1.service");
        for wrong in ["", ".service", "../etc", "a/b", "a b", "a\nb"] {
            assert!(unit_name(wrong).is_err(), "{wrong:?}");
        }
    }
}
