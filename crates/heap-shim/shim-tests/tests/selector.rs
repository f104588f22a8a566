//! The selector: which heap in which program, and silence about it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use underhood_shim_tests::Way;
use underhood_shim_tests::compile;
use underhood_shim_tests::shim;
use underhood_shim_tests::skip;
use underhood_shim_tests::temporary_folder;

/// The program under two names, one of them a link.
fn programs() -> (PathBuf, PathBuf, PathBuf) {
    let folder = temporary_folder("selector");
    let [java, other, link] = ["java", "other", "link"].map(|name| folder.join(name));
    let built = compile("which_heap.c", &[]);
    for path in [&java, &other] {
        if !path.exists() {
            // Renamed into place: tests run at the same time.
            let fresh = path.with_extension(format!("{:?}", std::thread::current().id()));
            fs::copy(&built, &fresh).expect("copy a program");
            fs::rename(&fresh, path).expect("rename a program");
        }
    }
    let _exists = symlink(&java, &link);
    (java, other, link)
}

fn chosen(rules: &str, program: &PathBuf, arguments: &[&str]) -> String {
    let said = Way::selected(rules).output_of(program, arguments);
    let (heap, permissions) = said.trim().split_once(' ').expect("a heap and permissions");
    assert!(permissions.starts_with("r--"), "the table is locked: {said}");
    heap.to_owned()
}

#[test]
fn rules_choose_by_path_and_by_name() {
    let (java, other, link) = programs();
    let rules = format!("*=mimalloc;{}=snmalloc;*/java=jemalloc", other.display());
    assert_eq!(chosen(&rules, &java, &[]), "jemalloc");
    assert_eq!(chosen(&rules, &other, &[]), "snmalloc");
    assert_eq!(chosen("java=snmalloc", &java, &[]), "snmalloc");
    assert_eq!(chosen("java=snmalloc", &other, &[]), "system");
    assert_eq!(chosen("*=mimalloc", &java, &[]), "mimalloc");
    assert_eq!(
        chosen("*/link=jemalloc;*/java=snmalloc", &link, &[]),
        "snmalloc",
        "links are resolved"
    );
}

#[test]
fn children_inherit_and_a_cleared_environment_changes_nothing() {
    let (java, ..) = programs();
    assert_eq!(chosen("*=jemalloc", &java, &["child"]), "jemalloc");
    assert_eq!(chosen("*=snmalloc", &java, &["cleared"]), "snmalloc");
}

/// A guest in somebody else's program: whatever the rules say, it says nothing and the program runs.
#[test]
fn anything_wrong_means_the_system_heap_in_silence() {
    let (java, ..) = programs();
    let long = format!("{}*=mimalloc", "x=system;".repeat(10_000));
    for (rules, heap) in [
        ("", "system"),
        ("*=tcmalloc", "system"),
        ("nonsense", "system"),
        ("*=mimalloc;nonsense", "system"),
        ("=;=;;;", "system"),
        ("*=MIMALLOC", "system"),
        ("cat=mimalloc", "system"),
        ("*=mimalloc\u{1}", "system"),
        (&long, "mimalloc"),
    ] {
        assert_eq!(chosen(rules, &java, &[]), heap, "{:.40}", rules);
    }
    let unset = Way::heap("selector").output_of(&java, &[]);
    if !std::path::Path::new("/etc/underhood/heap-select").exists() {
        assert_eq!(unset.trim(), "system r--p");
    }
}

/// Runs a script in a mount namespace of its own, or gives `None` where that is not allowed.
fn in_namespace(script: &str) -> Option<String> {
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-ec", script])
        .output()
        .ok()?;
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        skip("a test in a mount namespace", &errors);
        return None;
    }
    assert_eq!(errors, "");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn without_proc_it_is_the_system_heap() {
    let (java, ..) = programs();
    let script = format!(
        "mount --make-rprivate / && mount -t tmpfs none /proc && \
         LD_PRELOAD={} UNDERHOOD_HEAP_SELECT='*=mimalloc' exec {}",
        shim("selector").display(),
        java.display(),
    );
    if let Some(said) = in_namespace(&script) {
        assert_eq!(said, "system none\n");
    }
}

#[test]
fn the_machine_has_rules_of_its_own() {
    let (java, ..) = programs();
    let way = |variable: &str| {
        format!(
            "mount --make-rprivate / && mount -t tmpfs none /mnt && cp -a /etc/. /mnt && mkdir -p /mnt/underhood && \
             printf '# ours\\n*=snmalloc\\njava = jemalloc\\n' > /mnt/underhood/heap-select && \
             mount --bind /mnt /etc && {variable} LD_PRELOAD={} exec {}",
            shim("selector").display(),
            java.display(),
        )
    };
    let unset = "unset UNDERHOOD_HEAP_SELECT;";
    if let Some(said) = in_namespace(&way(unset)) {
        assert_eq!(said, "jemalloc r--p\n");
        let set = in_namespace(&way("UNDERHOOD_HEAP_SELECT='*=mimalloc'"));
        assert_eq!(
            set.as_deref(),
            Some("mimalloc r--p\n"),
            "the person's rules come first"
        );
        let empty = in_namespace(&way("UNDERHOOD_HEAP_SELECT="));
        assert_eq!(
            empty.as_deref(),
            Some("system r--p\n"),
            "set but empty means none"
        );
    }
}

/// A machine-wide preload reaches setuid programs, whose user must not choose what runs in them.
#[test]
fn a_program_that_gains_privileges_keeps_the_system_heap() {
    let (java, ..) = programs();
    let script = |mode: &str| {
        format!(
            "mount --make-rprivate / && mount -t tmpfs -o mode=755 tmpfs /mnt && cp -a /etc/. /mnt && \
             cp {} /mnt/selector.so && cp {} /mnt/program && chmod {mode} /mnt/program && \
             echo /etc/selector.so > /mnt/ld.so.preload && mount --bind /mnt /etc && \
             UNDERHOOD_HEAP_SELECT='*=mimalloc' exec setpriv --reuid=65534 --regid=65534 --clear-groups /etc/program",
            shim("selector").display(),
            java.display(),
        )
    };
    if let Some(said) = in_namespace(&script("755")) {
        assert_eq!(said, "mimalloc r--p\n");
        assert_eq!(in_namespace(&script("4755")).as_deref(), Some("system r--p\n"));
    }
}
