//! Each single reason to run the original, and that it is said when asked for.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use crate::support::{Guarded, run, seen, text};

/// The original ran, as if it had been called itself, and the reason was told.
#[track_caller]
fn assert_unbound(probe: &Guarded, variables: &[(&str, &str)], reason: &str) {
    let (exe, said) = seen(&probe.run(variables));
    assert_eq!(exe, "exe original");
    assert_eq!(
        said,
        seen(&run(&probe.original, variables)).1,
        "with {variables:?}"
    );
    let mut verbose = variables.to_vec();
    verbose.push(("UNDERHOOD_VERBOSE", "1"));
    let output = probe.run(&verbose);
    assert_eq!(seen(&output).0, "exe original");
    let original = probe.original.display();
    assert_eq!(
        last_line(&output),
        format!("underhood: {original} runs unbound: {reason}")
    );
}

fn last_line(output: &Output) -> String {
    text(&output.stderr).lines().next().unwrap_or_default().to_owned()
}

#[track_caller]
fn assert_bound(probe: &Guarded, variables: &[(&str, &str)]) {
    let output = probe.run(variables);
    assert!(
        text(&output.stdout).contains("exe copy"),
        "with {variables:?}: {output:?}"
    );
}

#[test]
fn variables_that_change_what_the_loader_does() {
    let probe = Guarded::filled();
    for name in [
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "LD_AUDIT",
        "LD_DYNAMIC_WEAK",
        "LD_PROFILE",
        "LD_PREFER_MAP_32BIT_EXEC",
        "LD_HWCAP_MASK",
        "LD_ORIGIN_PATH",
        "LD_ASSUME_KERNEL",
        "LD_SOMETHING_NEW",
    ] {
        // A value that no loader takes for more than it is.
        assert_unbound(&probe, &[("A", "b"), (name, "0")], &format!("{name} is set"));
    }
    assert_unbound(&probe, &[("LD_DYNAMIC_WEAK", "")], "LD_DYNAMIC_WEAK is set");
    for tunables in [
        "glibc.cpu.x86_shstk=off",
        "glibc.malloc.check=0:glibc.rtld.optional_static_tls=1024",
    ] {
        let reason = "GLIBC_TUNABLES changes how the loader works";
        assert_unbound(&probe, &[("GLIBC_TUNABLES", tunables)], reason);
    }
}

#[test]
fn variables_that_do_not() {
    let probe = Guarded::filled();
    for (name, value) in [
        ("LD_PRELOAD", ""),
        ("LD_LIBRARY_PATH", ""),
        ("LD_AUDIT", ""),
        ("LD_BIND_NOW", "1"),
        ("LD_BIND_NOT", "1"),
        ("LD_DEBUG", "statistics"),
        ("LD_VERBOSE", "1"),
        ("LD_WARN", "1"),
        ("LD", "1"),
        ("XLD_PRELOAD", "1"),
        ("LDX", "1"),
        ("GLIBC_TUNABLES", "glibc.malloc.check=0"),
        ("GLIBC_TUNABLES_OF", "glibc.cpu.x"),
        ("UNDERHOOD_VERBOSE", "1"),
    ] {
        assert_bound(&probe, &[(name, value)]);
    }
    let traced = text(&probe.run(&[("LD_TRACE_LOADED_OBJECTS", "1")]).stdout);
    assert!(traced.contains("libc.so.6 => /"), "{traced}");
    let vector = text(&probe.run(&[("LD_SHOW_AUXV", "1")]).stdout);
    assert!(
        vector.contains(&format!("AT_EXECFN:            {}\n", probe.original.display())),
        "{vector}"
    );
}

#[test]
fn only_exactly_one_asks_for_words() {
    let probe = Guarded::filled();
    for value in ["", "0", "11"] {
        let output = probe.run(&[("LD_AUDIT", "/none"), ("UNDERHOOD_VERBOSE", value)]);
        assert!(!text(&output.stderr).contains("underhood"), "{output:?}");
    }
}

#[test]
fn a_file_that_changed() {
    let mut probe = Guarded::probe();
    probe.plan.watched[2].1.modified.1 ^= 1;
    probe.fill();
    assert_unbound(&probe, &[], "/etc/passwd has changed");

    let changes: [fn(&mut image::elf::guard::Identity); 4] = [
        |identity| identity.device += 1,
        |identity| identity.inode += 1,
        |identity| identity.size += 1,
        |identity| identity.modified.0 -= 1,
    ];
    for change in changes {
        let mut probe = Guarded::probe();
        change(&mut probe.plan.watched[2].1);
        probe.fill();
        assert_unbound(&probe, &[], "/etc/passwd has changed");
    }
}

#[test]
fn a_file_that_was_replaced_after_the_guard_was_made() {
    let mut probe = Guarded::probe();
    let library = probe.folder.path().join("library");
    fs::write(&library, "a").unwrap();
    let name = library.display().to_string();
    probe
        .plan
        .watched
        .push((name.clone(), crate::support::identity(&library)));
    probe.fill();
    assert_bound(&probe, &[]);
    fs::write(probe.folder.path().join("new"), "a").unwrap();
    fs::rename(probe.folder.path().join("new"), &library).unwrap();
    assert_unbound(&probe, &[], &format!("{name} has changed"));
    fs::remove_file(&library).unwrap();
    assert_unbound(&probe, &[], &format!("{name} cannot be found any more"));
}

#[test]
fn a_file_that_appeared() {
    let mut probe = Guarded::probe();
    let library = probe.folder.path().join("before");
    let name = library.display().to_string();
    probe.plan.absent.push(name.clone());
    probe.fill();
    assert_bound(&probe, &[]);
    fs::write(&library, "").unwrap();
    assert_unbound(&probe, &[], &format!("{name} was not there before"));
}

#[test]
fn addresses_that_are_taken() {
    // By the program itself, which lies there since before the guard runs; by the guard.
    for range in [
        (0x40_0000, 4096),
        (0x10_0000, 0x40_0000),
        (crate::support::BASE, 4096),
    ] {
        let mut probe = Guarded::probe();
        probe.plan.ranges.push(range);
        probe.fill();
        assert_unbound(&probe, &[], "its addresses are taken");
    }
}

#[test]
fn another_processor() {
    for change in [(1, 0), (0, 1 << 40)] {
        let mut probe = Guarded::probe();
        probe.plan.hwcap.0 ^= change.0;
        probe.plan.hwcap.1 ^= change.1;
        probe.fill();
        assert_unbound(&probe, &[], "this processor has other abilities (AT_HWCAP)");
    }
}

/// A copy that was made set-user-id by hand.
#[expect(clippy::print_stdout, reason = "what is left out must be said")]
#[test]
fn more_rights_than_the_user_has() {
    let probe = Guarded::probe();
    fs::set_permissions(&probe.copy, fs::Permissions::from_mode(0o4755)).unwrap();
    probe.fill();
    let user = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    let output = Command::new("setpriv")
        .args(user)
        .arg(&probe.copy)
        .env("UNDERHOOD_VERBOSE", "1")
        .output()
        .unwrap();
    let said = text(&output.stderr);
    if said.contains("AT_SECURE") {
        assert_eq!(seen(&output).0, "exe original");
    } else {
        // Only root may become another user, and a file system may ignore the bit.
        println!("SKIPPED: a set-user-id program cannot be started here: {said}");
    }
}

#[test]
fn a_loader_that_changed_or_is_gone() {
    let mut probe = Guarded::probe();
    let bytes = fs::read(crate::support::LOADER).unwrap();
    let own = probe.folder.path().join("loader");
    fs::write(&own, &bytes).unwrap();
    let name = own.display().to_string();
    let identity = crate::support::identity(&own);
    probe.plan.loader = image::elf::guard::Loader::read(&name, identity, &bytes).unwrap();
    probe.fill();
    fs::write(&own, &bytes).unwrap();
    assert_unbound(&probe, &[], &format!("{name} has changed"));
    fs::remove_file(&own).unwrap();
    assert_unbound(&probe, &[], &format!("{name} cannot be opened"));
}

#[test]
fn an_original_that_is_gone_or_cannot_run() {
    let probe = Guarded::filled();
    fs::write(&probe.original, "neither ELF nor script").unwrap();
    let output = probe.run(&[]);
    assert_eq!(output.status.code(), Some(126), "{output:?}");
    fs::remove_file(&probe.original).unwrap();
    let output = probe.run(&[]);
    assert_eq!(output.status.code(), Some(127), "{output:?}");
    let said = text(&output.stderr);
    assert!(
        said.contains("original cannot be executed in place of its bound copy"),
        "{said}"
    );
}

#[test]
fn a_copy_in_the_place_of_its_original_does_not_call_itself_for_ever() {
    let probe = Guarded::filled();
    fs::rename(&probe.copy, &probe.original).unwrap();
    let output = run(&probe.original, &[]);
    assert_eq!(output.status.code(), Some(126), "{output:?}");
    assert!(
        text(&output.stderr).contains("the original is lost"),
        "{output:?}"
    );
}
