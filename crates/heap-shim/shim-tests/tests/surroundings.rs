//! Programs inside of something: a sandbox that hides files, and an instrumented machine.

use underhood_shim_tests::SHIM_FOLDER;
use underhood_shim_tests::Way;
use underhood_shim_tests::compile;
use underhood_shim_tests::exists;
use underhood_shim_tests::skip;
use underhood_shim_tests::ways;

/// bubblewrap, which is below Flatpak: the library is inside, or the loader goes without it and says so.
#[test]
fn a_sandbox_that_hides_files() {
    if !exists("bwrap") {
        skip(
            "a_sandbox_that_hides_files",
            "bwrap is missing: apt-get install bubblewrap",
        );
        return;
    }
    let program = compile("semantics.c", &[]).display().to_string();
    let hidden = SHIM_FOLDER.display().to_string();
    for way in ways() {
        let kind = if way.name == "plain" { "plain" } else { "replaced" };
        let inside = way.run("bwrap", &["--dev-bind", "/", "/", &program, kind]);
        assert_eq!(String::from_utf8_lossy(&inside.stdout), "ok\n", "{}", way.name);
        assert!(
            inside.status.success() && inside.stderr.is_empty(),
            "{}: {inside:?}",
            way.name
        );

        let without = way.run(
            "bwrap",
            &["--dev-bind", "/", "/", "--tmpfs", &hidden, &program, "plain"],
        );
        assert_eq!(String::from_utf8_lossy(&without.stdout), "ok\n", "{}", way.name);
        assert!(without.status.success(), "{}", way.name);
        let told = String::from_utf8_lossy(&without.stderr).contains("cannot be preloaded");
        assert_eq!(told, way.name != "plain", "{}: {without:?}", way.name);
    }
}

/// valgrind puts its own heap in the place of the program's, whatever that is.
#[test]
fn an_instrumented_machine() {
    if !exists("valgrind") {
        skip(
            "an_instrumented_machine",
            "valgrind is missing: apt-get install valgrind",
        );
        return;
    }
    let arguments = [
        "--quiet",
        "--error-exitcode=99",
        "--soname-synonyms=somalloc=libunderhood*",
        "/bin/ls",
        "/",
    ];
    let plain = Way::plain().output_of("valgrind", &arguments);
    for way in ways() {
        if way.heap == "snmalloc" {
            // It reserves more addresses at once than valgrind has, and says that it cannot; docs/LIMITS.md tells.
            let output = way.run("valgrind", &arguments);
            let said = String::from_utf8_lossy(&output.stderr);
            let works = output.status.success() && output.stdout == plain.as_bytes();
            assert!(
                works || said.contains("Failed to initialise snmalloc"),
                "{}: {said}",
                way.name
            );
            continue;
        }
        assert_eq!(way.output_of("valgrind", &arguments), plain, "{}", way.name);
    }
}
