//! `image inspect` of ELF files from outside.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn inspect(arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_underhood"))
        .args(["-q", "image", "inspect"])
        .args(arguments)
        .env_remove("LD_LIBRARY_PATH")
        .env_remove("LD_PRELOAD")
        .env_remove("LD_BIND_NOW")
        .envs(environment.iter().copied())
        .output()
        .unwrap()
}

fn json(arguments: &[&str], environment: &[(&str, &str)]) -> Value {
    let output = inspect(&[arguments, &["--json", "-"]].concat(), environment);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// A program or library compiled from C.
fn compile(folder: &Path, name: &str, source: &str, options: &[&str]) -> PathBuf {
    let code = folder.join(format!("{name}.c"));
    std::fs::write(&code, source).unwrap();
    let made = folder.join(name);
    let output = Command::new("cc")
        .arg(&code)
        .arg("-o")
        .arg(&made)
        .args(options)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output));
    made
}

const MAIN: &str = "#include <stdlib.h>\nint main(void) { return malloc(1) == 0; }\n";

#[test]
fn a_file_alone_says_what_it_is() {
    let document = json(&["/bin/true"], &[]);
    assert_eq!(document["schema"], "underhood.image.inspect/1");
    assert!(document["pe"].is_null());
    let file = &document["elf"]["file"];
    assert_eq!(file["interpreter"], "/lib64/ld-linux-x86-64.so.2");
    assert!(file["needed"].as_array().unwrap().contains(&"libc.so.6".into()));
    let imported = document["elf"]["symbols"]["imported"].as_array().unwrap();
    let start = imported
        .iter()
        .find(|symbol| symbol["name"] == "__libc_start_main")
        .unwrap();
    assert_eq!(start["library"], "libc.so.6");
    assert!(start["version"].as_str().unwrap().starts_with("GLIBC_"));
    let shown = text(&inspect(&["/bin/true"], &[]));
    assert!(
        shown.contains("hash tables") && shown.contains("JUMP_SLOT"),
        "{shown}"
    );
}

#[test]
fn a_closure_names_what_is_missing_and_estimates_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let library = compile(
        here,
        "libgone.so",
        "int gone(void) { return 1; }\n",
        &["-shared", "-fPIC"],
    );
    let program = compile(
        here,
        "program",
        "int gone(void);\nint main(void) { return gone(); }\n",
        &[library.to_str().unwrap()],
    );
    // Without soname the linker wrote the path that it was given; take the library away.
    std::fs::remove_file(&library).unwrap();
    let program = program.to_str().unwrap();
    let document = json(&["--closure", program], &[]);
    let closure = &document["elf"]["closure"];
    let gone = closure["searches"]
        .as_array()
        .unwrap()
        .iter()
        .find(|search| search["ending"] == "missing")
        .unwrap();
    assert!(gone["name"].as_str().unwrap().ends_with("libgone.so"));
    assert!(closure["estimate_us"]["total"].as_f64().unwrap() > 0.0);
    assert!(closure["unit_costs_ns"]["copied_page"].as_f64().unwrap() > 10.0);
    assert!(closure["measured_entry_us"].is_null());
    let shown = text(&inspect(&["--closure", program], &[]));
    assert!(
        shown.contains("libgone.so is not found") && shown.contains("does not start"),
        "{shown}"
    );
}

#[test]
fn the_environment_is_taken_into_account() {
    let here = tempfile::tempdir().unwrap();
    let path = here.path().to_str().unwrap();
    let document = json(
        &["--closure", "/bin/true"],
        &[
            ("LD_LIBRARY_PATH", path),
            ("LD_PRELOAD", "libm.so.6"),
            ("LD_BIND_NOW", "1"),
        ],
    );
    let closure = &document["elf"]["closure"];
    assert_eq!(closure["library_path"], path);
    assert_eq!(closure["bind_now"], true);
    assert_eq!(closure["work"]["lazy"]["lookups"], 0);
    let preloaded = closure["objects"]
        .as_array()
        .unwrap()
        .iter()
        .find(|object| object["role"] == "preloaded")
        .unwrap();
    assert!(preloaded["path"].as_str().unwrap().ends_with("libm.so.6"));
    // Each name is asked for in the folder in vain.
    assert!(closure["work"]["misses"].as_u64().unwrap() >= 2);
}

#[test]
fn the_heap_of_a_program_is_found_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let own = "#include <stddef.h>\nstatic char a[64];\nvoid *malloc(size_t n) { (void)n; return a; }\nvoid free(void *p) { (void)p; }\n";
    let library = compile(
        here,
        "libheap.so",
        own,
        &["-shared", "-fPIC", "-Wl,-soname,libheap.so"],
    );
    let library = library.to_str().unwrap();
    let run_path = format!("-Wl,-rpath,{}", here.display());
    let heap = |program: &Path| json(&["--heap", program.to_str().unwrap()], &[])["elf"]["heap"].clone();

    let plain = heap(&compile(here, "plain", MAIN, &[]));
    assert_eq!(
        (&plain["heap"], &plain["replaceable"]),
        (&"libc".into(), &true.into()),
        "{plain}"
    );
    assert!(plain["provider"].as_str().unwrap().ends_with("libc.so.6"));

    let by_library = heap(&compile(
        here,
        "with",
        MAIN,
        &[library, &run_path, "-Wl,--no-as-needed"],
    ));
    assert_eq!(by_library["provider"], library, "{by_library}");
    assert_ne!(by_library["heap"], "libc");

    let inside = heap(&compile(
        here,
        "inside",
        &format!("{own}int main(void) {{ return 0; }}\n"),
        &["-rdynamic"],
    ));
    assert_eq!(inside["replaceable"], false, "{inside}");
    assert_eq!(inside["heap"], "own");
    assert!(inside["obstacle"].as_str().unwrap().contains("own heap"));

    let named = heap(&compile(
        here,
        "named",
        "void *je_malloc(unsigned long n) { return (void *)n; }\nint main(void) { return je_malloc(1) == 0; }\n",
        &["-rdynamic"],
    ));
    assert_eq!(named["heap"], "jemalloc", "{named}");

    let fixed = heap(&compile(here, "fixed", MAIN, &["-static"]));
    assert_eq!(
        (&fixed["heap"], &fixed["replaceable"]),
        (&"libc".into(), &false.into()),
        "{fixed}"
    );
    assert!(fixed["obstacle"].as_str().unwrap().contains("tatically linked"));

    let shown = text(&inspect(&["--heap", "/bin/true"], &[]));
    assert!(
        shown.contains("C library's heap") && shown.contains("underhood exec --heap"),
        "{shown}"
    );
}

#[test]
fn what_is_no_program_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let write = |name: &str, bytes: &[u8]| {
        let path = here.join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let sound = std::fs::read("/bin/true").unwrap();
    let mut small = sound.clone();
    small[4] = 1;
    let mut foreign = sound.clone();
    foreign[18] = 243;
    let mut object = sound.clone();
    object[16] = 1;
    for (path, code, reason) in [
        (write("small", &small), 3, "32-bit"),
        (write("foreign", &foreign), 3, "another processor"),
        (write("object", &object), 2, "object file"),
        (write("short", &sound[..50]), 2, "damaged"),
        (write("text", b"#!/bin/sh\n"), 2, "neither an ELF nor a PE"),
        (here.join("none").to_str().unwrap().to_owned(), 2, "No such file"),
        (here.to_str().unwrap().to_owned(), 2, "regular file"),
    ] {
        for options in [&[][..], &["--closure"], &["--heap"]] {
            let output = inspect(&[options, &[path.as_str()]].concat(), &[]);
            let said = text(&output);
            assert_eq!(output.status.code(), Some(code), "{path} {options:?}: {said}");
            assert!(said.contains(reason), "{path}: {said}");
        }
    }
}
