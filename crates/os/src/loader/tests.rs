use std::ffi::OsString;
use std::fs;

use super::*;

#[test]
fn what_is_no_file_is_refused_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let error = classify(&missing).unwrap_err();
    assert!(matches!(error, ClassifyError::Unreadable { .. }), "{error}");
    assert!(error.to_string().contains("missing"), "{error}");
    assert!(matches!(
        classify(folder.path()),
        Err(ClassifyError::NotAFile { .. })
    ));
}

#[test]
fn texts_and_empty_files_are_other() {
    let folder = tempfile::tempdir().unwrap();
    for text in ["", "\x7f", "M", "echo hello\n", "#", "\x7fEL"] {
        let file = folder.path().join("file");
        fs::write(&file, text).unwrap();
        let program = classify(&file).unwrap();
        assert_eq!(program.format, Format::Other, "{text:?}");
        assert_eq!(program.bits, 0);
    }
}

#[test]
fn this_test_is_a_program_of_this_machine() {
    let program = classify(&std::env::current_exe().unwrap()).unwrap();
    assert_eq!(
        program.format,
        if cfg!(windows) { Format::Pe } else { Format::Elf }
    );
    assert_eq!(usize::from(program.bits), usize::BITS as usize);
    assert_eq!(program.machine, std::env::consts::ARCH);
    assert!(matches!(program.linkage, Linkage::Dynamic { .. }), "{program:?}");
    let wanted = if cfg!(windows) {
        "kernel32.dll"
    } else {
        "libc.so.6"
    };
    assert!(
        program
            .needed
            .iter()
            .any(|name| name.eq_ignore_ascii_case(wanted)),
        "{program:?}"
    );
    assert!(!program.go && !program.setuid && !program.secure);
    // On Windows a heap is linked in for comparison.
    assert_eq!(program.own_heap.is_some(), cfg!(windows), "{program:?}");
}

#[test]
fn damaged_programs_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    // A small program would do, but the test itself is the one program that is there on every system.
    let mut whole = fs::read(std::env::current_exe().unwrap()).unwrap();
    whole.truncate(64 << 10);
    let mut random = fastrand::Rng::with_seed(11);
    for round in 0..150 {
        let mut bytes = whole[..random.usize(..whole.len())].to_vec();
        if round % 2 == 0 {
            bytes = whole.clone();
        }
        for _ in 0..random.usize(..40) {
            // Mostly the headers, where everything is decided.
            let end = if random.bool() { 1024 } else { bytes.len() };
            if let Some(byte) = bytes.get_mut(random.usize(..end.max(1))) {
                *byte = *random
                    .choice(&[0, 1, 0x7f, 0x80, 0xff, random_byte(round)])
                    .unwrap();
            }
        }
        fs::write(&file, &bytes).unwrap();
        let _ = classify(&file);
    }
}

fn random_byte(round: u32) -> u8 {
    (round.wrapping_mul(0x9E37_79B9) >> 24) as u8
}

#[test]
fn random_bytes_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    let mut random = fastrand::Rng::with_seed(12);
    let beginnings: [&[u8]; 5] = [b"", b"\x7fELF\x02\x01\x01", b"\x7fELF\x01\x02\x01", b"MZ", b"#!"];
    for round in 0..150 {
        let mut bytes = beginnings[round % beginnings.len()].to_vec();
        bytes.extend((0..random.usize(..2000)).map(|_| random.u8(..)));
        fs::write(&file, &bytes).unwrap();
        let _ = classify(&file);
    }
}

#[test]
fn own_libraries_are_mapped() {
    let files = mapped_libraries(std::process::id()).unwrap();
    let own = std::env::current_exe().unwrap().canonicalize().unwrap();
    assert!(
        files
            .iter()
            .any(|file| file.canonicalize().is_ok_and(|file| file == own)),
        "{files:?}"
    );
    assert!(files.len() >= 2, "{files:?}");
    // No process has this number: both systems number them in steps of at least 2 and far below.
    assert!(mapped_libraries(0x7fff_fff3).is_err());
}

#[test]
fn commands_are_found_in_the_order_of_path() {
    let root = tempfile::tempdir().unwrap();
    let name = if cfg!(windows) { "tool.exe" } else { "tool" };
    let folder = |name: &str| {
        let folder = root.path().join(name);
        fs::create_dir(&folder).unwrap();
        folder
    };
    let (empty, first, second) = (folder("empty"), folder("first"), folder("second"));
    for folder in [&first, &second] {
        runnable(&folder.join(name));
    }
    let path: OsString = std::env::join_paths([&empty, &first, &second]).unwrap();
    assert_eq!(
        find_in_path(OsStr::new("tool"), Some(&path)).unwrap(),
        first.join(name)
    );
    let direct = second.join("tool");
    assert_eq!(
        find_in_path(direct.as_os_str(), Some(&path)).unwrap(),
        second.join(name)
    );

    let error = find_in_path(OsStr::new("no-such-tool"), Some(&path)).unwrap_err();
    assert!(matches!(&error, NotFound::Missing { .. }), "{error}");
    assert!(
        error.to_string().contains("no-such-tool") && error.to_string().contains("PATH"),
        "{error}"
    );
    assert!(matches!(
        find_in_path(OsStr::new(""), Some(&path)),
        Err(NotFound::Missing { .. })
    ));
    let error = find_in_path(empty.as_os_str(), None).unwrap_err();
    assert!(error.to_string().contains("folder"), "{error}");
}

fn runnable(path: &Path) {
    fs::write(path, "#!/bin/sh\n").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}
