//! `image inspect` of PE files from outside, on the article's set.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn underhood(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_underhood"))
        .args(["-q", "image"])
        .args(arguments)
        .output()
        .unwrap()
}

fn generate(folder: &Path, arguments: &[&str]) {
    let folder = folder.to_str().unwrap();
    let output = underhood(&[&["generate", "--format", "pe", "--out", folder], arguments].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
}

fn inspected(file: &Path, arguments: &[&str]) -> Value {
    let file = file.to_str().unwrap();
    let output = underhood(&[&["inspect", "--json", "-", file], arguments].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["schema"], "underhood.image.inspect/1");
    assert_eq!(document["elf"], Value::Null);
    document["pe"].clone()
}

#[test]
fn nine_of_ten_libraries_are_moved_unless_each_has_its_place() {
    for (import, names, ordinals) in [("name", 1000, 0), ("ordinal", 0, 1000)] {
        for (base, moved, fixups) in [("shared", 9, 4500), ("distinct", 0, 0)] {
            let folder = tempfile::tempdir().unwrap();
            generate(folder.path(), &["--import", import, "--base", base]);
            let program = folder.path().join("app.exe");
            let closure = &inspected(&program, &["--closure"])["closure"];
            let counts = &closure["counts"];
            assert_eq!(counts["modules"], 11);
            assert_eq!(
                (&counts["moved"], &counts["fixups"]),
                (&moved.into(), &fixups.into())
            );
            assert_eq!(
                (&counts["names"], &counts["ordinals"]),
                (&names.into(), &ordinals.into())
            );
            assert_eq!(closure["differences"], Value::Array(Vec::new()));
            let modules = closure["modules"].as_array().unwrap();
            let collisions = modules
                .iter()
                .filter(|module| module["collides_with"] == "lib1.dll");
            assert_eq!(collisions.count(), moved);
            assert_eq!(closure["outside"][0], "kernel32.dll");
        }
    }
}

#[test]
fn libraries_are_found_in_any_case() {
    let folder = tempfile::tempdir().unwrap();
    generate(folder.path(), &["--libs", "2", "--functions", "3"]);
    std::fs::rename(folder.path().join("lib2.dll"), folder.path().join("LIB2.Dll")).unwrap();
    std::fs::remove_file(folder.path().join("lib1.dll")).unwrap();
    let closure = &inspected(&folder.path().join("app.exe"), &["--closure"])["closure"];
    assert_eq!(closure["modules"][1]["file"], "LIB2.Dll");
    let outside = closure["outside"].as_array().unwrap();
    assert!(outside.contains(&"lib1.dll".into()), "{outside:?}");
}

#[test]
fn a_file_alone_and_its_heap() {
    let folder = tempfile::tempdir().unwrap();
    generate(
        folder.path(),
        &["--libs", "1", "--functions", "3", "--globals", "2"],
    );
    let library = inspected(&folder.path().join("lib1.dll"), &[]);
    let file = &library["file"];
    assert_eq!(
        (&file["kind"], &file["base"]),
        (&"library".into(), &"0x180000000".into())
    );
    assert_eq!(
        (&file["fixups"]["DIR64"], &file["fixup_pages"]),
        (&6.into(), &1.into())
    );
    assert_eq!(
        (&file["exported_names"], &file["dynamic_base"]),
        (&3.into(), &true.into())
    );
    assert_eq!(file["checksum"], file["checksum_computed"]);
    let program = folder.path().join("app.exe");
    let symbols = &inspected(&program, &[])["imports"];
    let ours = symbols
        .as_array()
        .unwrap()
        .iter()
        .find(|import| import["library"] == "lib1.dll");
    assert_eq!(ours.unwrap()["by_name"], 3);
    let heap = &inspected(&program, &["--heap"])["heap"];
    assert_eq!(
        (&heap["runtime"], &heap["library"]),
        (&"msvcrt".into(), &"msvcrt.dll".into())
    );
    assert!(
        heap["of_language"]
            .as_array()
            .unwrap()
            .contains(&"msvcrt.dll!malloc".into())
    );
}

#[test]
fn what_cannot_be_read_or_loaded_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    generate(folder.path(), &["--libs", "2", "--functions", "3"]);
    let refused = |file: &Path, arguments: &[&str]| {
        let output = underhood(&[&["inspect", file.to_str().unwrap()], arguments].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code().unwrap(), said)
    };
    let program = folder.path().join("app.exe");
    let whole = std::fs::read(&program).unwrap();
    let cut = folder.path().join("cut.exe");
    for length in [2, 70, 300] {
        std::fs::write(&cut, &whole[..length]).unwrap();
        let (code, said) = refused(&cut, &[]);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains("PE file") || said.contains("damaged"), "{said}");
    }
    std::fs::write(&cut, &whole[..whole.len() / 3]).unwrap();
    let (code, said) = refused(&cut, &["--closure"]);
    assert!(
        (code == 2 || code == 4) && said.contains("damaged"),
        "{code}: {said}"
    );
    std::fs::copy(folder.path().join("lib1.dll"), folder.path().join("lib2.dll")).unwrap();
    let (code, said) = refused(&program, &["--closure"]);
    assert_eq!(code, 4, "{said}");
    assert!(said.contains("lib2.dll, which does not export it"), "{said}");
}
