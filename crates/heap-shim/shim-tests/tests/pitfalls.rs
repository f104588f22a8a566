//! What has gone wrong with preloaded heaps elsewhere, one test each.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use underhood_shim_tests::FORWARDING;
use underhood_shim_tests::REPLACING;
use underhood_shim_tests::Way;
use underhood_shim_tests::all_shims;
use underhood_shim_tests::compile;
use underhood_shim_tests::say;
use underhood_shim_tests::shim;
use underhood_shim_tests::skip;
use underhood_shim_tests::temporary_folder;
use underhood_shim_tests::ways;

/// A lock that another thread holds during fork stays held in the child for ever.
#[test]
fn fork_while_threads_allocate() {
    let program = compile("forks.c", &[]);
    for way in ways() {
        let forks = if way.heap == "single_lock_kernel" {
            "10"
        } else {
            "100"
        };
        assert_eq!(
            way.output_of(&program, &[forks]),
            format!("{forks} of {forks}\n"),
            "{}",
            way.name
        );
    }
}

/// A tracer's dlsym allocates inside the first allocation.
#[test]
fn a_wrapper_that_looks_the_heap_up_in_its_first_call() {
    let wrapper = compile("wrapper.c", &["-shared", "-fPIC"]);
    let program = compile("wrapped.c", &[]);
    for heap in all_shims() {
        let both = format!("{} {}", wrapper.display(), shim(heap).display());
        let way = Way::heap(heap)
            .with("LD_PRELOAD", &both)
            .with("UNDERHOOD_HEAP_SELECT", "*=mimalloc");
        assert_eq!(way.output_of(&program, &[]), "ok\n", "{heap}");
    }
}

/// Static TLS: a library that is loaded late gets what is left of a small reserve.
#[test]
fn loaded_late_it_works_or_the_loader_says_why() {
    let program = compile("loads_late.c", &[]);
    for heap in all_shims() {
        let said = Way::plain().output_of(&program, &[&shim(heap).display().to_string()]);
        let refused = said.contains("cannot allocate memory in static TLS block");
        let large = matches!(heap, "jemalloc" | "selector");
        assert!(said == "loaded\n" || (large && refused), "{heap}: {said}");
        let reserve = Way::plain().with("GLIBC_TUNABLES", "glibc.rtld.optional_static_tls=4096");
        assert_eq!(
            reserve.output_of(&program, &[&shim(heap).display().to_string()]),
            "loaded\n",
            "{heap}"
        );
    }
}

/// A deeply bound library calls the C library's heap past every preloaded one. That is sound while it frees what it
/// allocated; a block that crosses (strdup here, free there) ends the program under any heap but the system's.
#[test]
fn deeply_bound_libraries_keep_to_themselves() {
    let plugin = compile("plugin.c", &["-shared", "-fPIC"]).display().to_string();
    let program = compile("deepbind.c", &[]);
    for way in ways() {
        assert_eq!(
            way.output_of(&program, &[&plugin, "within"]),
            "ok\n",
            "{}",
            way.name
        );
        if !way.replaces() {
            assert_eq!(
                way.output_of(&program, &[&plugin, "across"]),
                "ok\n",
                "{}",
                way.name
            );
        }
    }
}

/// A program with a heap of its own keeps it.
#[test]
fn a_heap_inside_the_program_is_left_alone() {
    let program = compile("own_heap.c", &[]);
    for way in ways() {
        assert_eq!(way.output_of(&program, &[]), "ok\n", "{}", way.name);
    }
}

/// A sandbox that was made for glibc's heap.
#[test]
fn a_seccomp_sandbox() {
    let program = compile("sandbox.c", &[]);
    for way in ways() {
        assert_eq!(way.output_of(&program, &["refuse"]), "ok\n", "{}", way.name);
        assert_eq!(way.output_of(&program, &["kill"]), "ok\n", "{}", way.name);
    }
}

/// glibc reads its tunables before the heap exists, and has called `free` on what was not a block.
#[test]
fn glibc_tunables_together_with_a_preloaded_heap() {
    let program = compile("semantics.c", &[]);
    for way in ways() {
        let tuned =
            "glibc.malloc.arena_max=1:glibc.malloc.tcache_count=0:glibc.rtld.optional_static_tls=2000";
        let kind = if way.name == "plain" { "plain" } else { "replaced" };
        assert_eq!(
            way.with("GLIBC_TUNABLES", tuned).output_of(&program, &[kind]),
            "ok\n"
        );
    }
}

/// The loader ignores a preload by path in a program that gains privileges: nothing happens, nothing is said.
#[test]
fn a_setuid_program_is_unaffected() {
    let program = temporary_folder("setuid").join("answers");
    fs::copy(compile("answers.c", &[]), &program).expect("copy a program");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o4755)).expect("set the setuid bit");
    for way in ways() {
        let mut command = Command::new("setpriv");
        let preload = way.name != "plain";
        command
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(&program);
        if preload {
            command.env("LD_PRELOAD", shim("mimalloc"));
        }
        // The folder of the test must be open to others for this.
        for folder in program.ancestors().skip(1).take(2) {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).expect("open a folder");
        }
        let output = command.output().expect("start setpriv");
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        if errors.contains("setresuid failed") || errors.contains("not permitted") {
            skip("a_setuid_program_is_unaffected", &errors);
            return;
        }
        assert!(text.contains("name=none"), "{}: {text} {errors}", way.name);
        assert_eq!(errors, "", "{}", way.name);
    }
}

/// Nothing can be preloaded into a static program; it must run as ever.
#[test]
fn a_static_program_is_unaffected() {
    let program = compile("semantics.c", &["-static"]);
    for way in ways() {
        assert_eq!(way.output_of(&program, &["plain"]), "ok\n", "{}", way.name);
    }
}

/// The loader only warns about a library that it cannot preload; the maps of the process are the proof.
#[test]
fn a_library_that_cannot_be_preloaded_is_not_in_the_maps() {
    let broken = temporary_folder("broken").join("libbroken.so");
    let mut bytes = fs::read(shim("mimalloc")).expect("read a library");
    bytes[18] = 3; // e_machine: i386
    bytes[19] = 0;
    fs::write(&broken, bytes).expect("write a library");
    let way = Way::plain().with("LD_PRELOAD", &broken.display().to_string());
    let output = way.run("cat", &["/proc/self/maps"]);
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot be preloaded"));
    assert!(!String::from_utf8_lossy(&output.stdout).contains("libbroken"));
    for heap in all_shims() {
        let maps = Way::heap(heap).output_of("cat", &["/proc/self/maps"]);
        assert!(maps.contains(&shim(heap).display().to_string()), "{heap}");
    }
}

/// The peak memory of a small program: the libraries' own share, which a machine-wide preload pays everywhere.
#[test]
fn a_small_program_stays_small() {
    for heap in REPLACING
        .into_iter()
        .chain(FORWARDING)
        .map(Way::heap)
        .chain([Way::plain(), Way::selected("*=system")])
    {
        let status = heap.output_of("cat", &["/proc/self/status"]);
        let line = status
            .lines()
            .find(|line| line.starts_with("VmHWM:"))
            .expect("the kernel says the peak");
        let kib: u64 = line
            .split_whitespace()
            .nth(1)
            .and_then(|kib| kib.parse().ok())
            .expect("a number");
        say(&format!("{}: cat peaks at {kib} KiB", heap.name));
        assert!(kib < 32 * 1024, "{}: {kib} KiB", heap.name);
    }
}
