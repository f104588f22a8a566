//! Libraries made for what programs of the system rarely do: older hash tables, symbolic and protected symbols, several
//! versions of one name, copied variables, unique symbols, thread-local ones, packed relocations. The loader is the judge.

use std::path::Path;
use std::process::Command;

use image::elf::facts::{Facts, HashStyle};
use image::elf::lookup::Linker;
use image::elf::{Image, Unreadable};

use crate::files::Relative;
use crate::loader::{agree, load_bytes, load_from, loader};

fn cc(compiler: &str, folder: &Path, name: &str, source: &str, options: &[&str]) {
    let extension = if compiler == "c++" { "cc" } else { "c" };
    let code = folder.join(format!("{name}.{extension}"));
    std::fs::write(&code, source).unwrap();
    let output = Command::new(compiler)
        .current_dir(folder)
        .args(["-O1", "-w", "-o", name])
        .arg(&code)
        .args(options)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{name}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

const FIRST: &str = "
int shared_variable = 1;
__thread int thread_variable = 2;
int both(void) { return 1; }
int *of_variable(void) { return &shared_variable; }
int (*pointer_to_both)(void) = both;
int call_both(void) { return both(); }
int weak_one(void) __attribute__((weak));
int weak_one(void) { return 1; }
";

const SECOND: &str = "
extern int shared_variable;
extern __thread int thread_variable;
int absent(void) __attribute__((weak));
int both(void) { return 2; }
__attribute__((visibility(\"protected\"))) int guarded(void) { return 2; }
__attribute__((visibility(\"protected\"))) int guarded_variable = 3;
int (*pointer_to_guarded)(void) = guarded;
int *pointer_to_variable = &guarded_variable;
int call_both(void);
int weak_one(void) { return 2; }
int second(void) { return both() + guarded() + shared_variable + thread_variable + call_both() + (absent ? absent() : 0); }
";

const PROGRAM: &str = "
extern int shared_variable;
extern __thread int thread_variable;
int second(void); int both(void); int weak_one(void);
int guarded(void) { return 9; }
int (*taken)(void) = both;
int main(void) { return second() + shared_variable + thread_variable + taken() + weak_one(); }
";

#[test]
fn bindings_of_made_libraries_are_those_of_the_loader() {
    let loader = loader();
    let mut bindings = 0;
    for options in [
        &["-Wl,--hash-style=gnu"][..],
        &["-Wl,--hash-style=sysv"],
        &["-Wl,--hash-style=both", "-Wl,-Bsymbolic"],
        &["-Wl,-Bsymbolic-functions", "-Wl,-z,now"],
        &["-Wl,-z,pack-relative-relocs", "-fno-plt"],
        &["-mtls-dialect=gnu2"],
    ] {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        let shared = [options, &["-shared", "-fPIC"]].concat();
        let named = |name: &'static str| [&shared[..], &["-Wl,-soname", name]].concat();
        cc("cc", here, "libfirst.so", FIRST, &named("-Wl,libfirst.so"));
        let second = [&named("-Wl,libsecond.so")[..], &["./libfirst.so"]].concat();
        cc("cc", here, "libsecond.so", SECOND, &second);
        let run_path = "-Wl,-rpath,$ORIGIN/../";
        for (name, more) in [
            ("pie", &["-pie", "-fPIE"][..]),
            ("fixed", &["-no-pie", "-fno-pie"]),
        ] {
            let all = [options, more, &["./libsecond.so", "./libfirst.so", run_path]].concat();
            cc("cc", here, name, PROGRAM, &all);
            // The libraries stand one folder above, and are named by their plain names.
            let inner = here.join("bin");
            std::fs::create_dir_all(&inner).unwrap();
            let program = inner.join(name);
            std::fs::rename(here.join(name), &program).unwrap();
            bindings += agree(program.to_str().unwrap(), &[], &loader).0;
        }
    }
    assert!(bindings > 100, "{bindings}");
}

#[test]
fn several_versions_of_one_name_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let versions = "OLD { global: name; local: *; };\nNEW { global: name; other; } OLD;\n";
    std::fs::write(here.join("map"), versions).unwrap();
    let source = "
int old_name(void) { return 1; } int new_name(void) { return 2; } int other(void) { return 3; }
__asm__(\".symver old_name,name@OLD\"); __asm__(\".symver new_name,name@@NEW\");
";
    let shared = ["-shared", "-fPIC", "-Wl,-soname,libv.so"];
    cc(
        "cc",
        here,
        "libv.so",
        source,
        &[&shared[..], &["-Wl,--version-script=map"]].concat(),
    );
    let run_path = "-Wl,-rpath,$ORIGIN";
    cc(
        "cc",
        here,
        "new",
        "int name(void); int main(void) { return name(); }\n",
        &["./libv.so", run_path],
    );
    let old = "int name(void); __asm__(\".symver name,name@OLD\"); int main(void) { return name(); }\n";
    cc("cc", here, "old", old, &["./libv.so", run_path]);
    // Linked to a library of the same name without versions: it asks for none.
    std::fs::create_dir(here.join("plain")).unwrap();
    let plain = here.join("plain");
    cc(
        "cc",
        &plain,
        "libv.so",
        "int name(void) { return 4; } int other(void) { return 5; }\n",
        &shared,
    );
    let source = "int name(void); int other(void); int main(void) { return name() + other(); }\n";
    cc("cc", here, "none", source, &["plain/libv.so", run_path]);
    for program in ["new", "old", "none"] {
        agree(here.join(program).to_str().unwrap(), &[], &loader());
    }
}

/// The loader ends with status 1 where promises are broken, and says why.
#[test]
fn broken_promises_are_those_that_the_loader_complains_of() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let library = "int name(void) { return 1; }\n";
    let make = |versions: &str, more: &[&str]| {
        std::fs::write(here.join("map"), versions).unwrap();
        let options = [
            "-shared",
            "-fPIC",
            "-Wl,-soname,libv.so",
            "-Wl,--version-script=map",
        ];
        cc("cc", here, "libv.so", library, &[&options[..], more].concat());
    };
    make("NEW { global: name; };\n", &[]);
    let main = "int name(void); int main(void) { return !name(); }\n";
    cc("cc", here, "program", main, &["./libv.so", "-Wl,-rpath,$ORIGIN"]);
    let program = here.join("program");
    let broken = || {
        let closure = crate::loader::load(program.to_str().unwrap(), &loader());
        let linker = Linker::new(&closure).unwrap();
        let reasons = image::elf::promises::broken(&closure, &linker);
        let output = Command::new(&program).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.success(), reasons.is_empty(), "{reasons:?}: {said}");
        (reasons, said)
    };
    assert_eq!(broken().0, Vec::<String>::new());
    make("OLD { global: name; };\n", &[]);
    let (reasons, said) = broken();
    assert!(reasons[0].contains("the version NEW of libv.so"), "{reasons:?}");
    assert!(said.contains("version `NEW' not found"), "{said}");
    // A library without any versions is found out when the symbol is.
    cc(
        "cc",
        here,
        "libv.so",
        library,
        &["-shared", "-fPIC", "-Wl,-soname,libv.so"],
    );
    let (reasons, said) = broken();
    assert!(
        reasons.len() == 1 && said.contains("no version information"),
        "{reasons:?}: {said}"
    );
}

#[test]
fn a_unique_symbol_is_one_for_all() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let source = "template <class T> struct One { static T value; }; template <class T> T One<T>::value = 1;\nint *NAME() { return &One<int>::value; }\n";
    let mut libraries = Vec::new();
    for name in ["a", "b", "c"] {
        let library = format!("lib{name}.so");
        cc(
            "c++",
            here,
            &library,
            &source.replace("NAME", name),
            &["-shared", "-fPIC", "-Wl,-soname", &format!("-Wl,{library}")],
        );
        libraries.push(format!("./{library}"));
    }
    let main = "int *a(); int *b(); int *c(); int main() { return a() != b() || b() != c(); }\n";
    let mut options: Vec<&str> = libraries.iter().map(String::as_str).collect();
    options.push("-Wl,-rpath,$ORIGIN");
    cc("c++", here, "unique", main, &options);
    agree(here.join("unique").to_str().unwrap(), &[], &loader());
}

/// The loader's own figures, of which it prints those of lookups without fault.
#[test]
fn as_many_lookups_are_made_as_the_loader_counts() {
    for command in [
        &["/bin/true"][..],
        &["/usr/bin/perl", "-v"],
        &["/usr/bin/gdb", "--version"],
    ] {
        if !Path::new(command[0]).exists() {
            continue;
        }
        let output = Command::new(command[0])
            .args(&command[1..])
            .env_clear()
            .env("LD_DEBUG", "statistics")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let number = |what: &str| -> u64 {
            let line = said.lines().find(|line| line.contains(what)).unwrap();
            line.rsplit(": ").next().unwrap().trim().parse().unwrap()
        };
        let closure = crate::loader::load(command[0], &loader());
        let (mut lookups, mut again) = (0, 0);
        Linker::new(&closure)
            .unwrap()
            .resolve(&mut |resolution| match resolution.how {
                _ if resolution.lazy => {}
                image::elf::lookup::How::Searched => lookups += 1,
                image::elf::lookup::How::Again => again += 1,
                image::elf::lookup::How::Own => {}
            })
            .unwrap();
        assert_eq!(again, number("number of relocations from cache:"), "{command:?}");
        // The loader looks up a few names of its own: in the kernel's page, and the C library's heap.
        let more = number("number of relocations:") - lookups;
        assert!(more < 40, "{command:?}: {more} more than {lookups}");
    }
}

/// The same bindings with hash tables made for it, and far fewer comparisons.
#[test]
fn newer_hash_tables_change_the_cost_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let functions = |letter: char| -> String {
        (0..200)
            .map(|index| format!("int {letter}{index}(void) {{ return {index}; }}\n"))
            .collect()
    };
    let shared = ["-shared", "-fPIC", "-Wl,--hash-style=sysv"];
    for letter in ['a', 'b', 'c'] {
        cc(
            "cc",
            here,
            &format!("lib{letter}.so"),
            &functions(letter),
            &shared,
        );
    }
    let names: Vec<String> = (0..200).map(|index| format!("c{index}")).collect();
    let source = format!(
        "int {}(void); int (*all[])(void) = {{{}}}; int main(void) {{ return all[0](); }}\n",
        names.join("(void), "),
        names.join(",")
    );
    let options = [
        "-Wl,--no-as-needed",
        "./liba.so",
        "./libb.so",
        "./libc.so",
        "-Wl,--hash-style=sysv",
    ];
    cc("cc", here, "program", &source, &options);
    let program = here.join("program");
    let bytes = std::fs::read(&program).unwrap();
    // The libraries are named by relative paths.
    let closure = load_from(bytes, &Relative(here.to_path_buf())).unwrap();
    let linker = Linker::new(&closure).unwrap();
    let newer = linker.rehashed().unwrap().unwrap();
    let run = |linker: &Linker<'_>| {
        let (mut targets, mut tally) = (Vec::new(), image::elf::lookup::Tally::default());
        linker
            .resolve(&mut |resolution| {
                targets.push((resolution.object, resolution.relocation.offset, resolution.target));
                tally.add(resolution);
            })
            .unwrap();
        (targets, tally.cost)
    };
    let ((before, old), (after, new)) = (run(&linker), run(&newer));
    assert_eq!(before, after);
    assert_eq!(old.libraries, new.libraries);
    assert!(
        new.rejected > old.rejected && new.comparisons * 2 < old.comparisons,
        "{old:?} {new:?}"
    );
    assert!(newer.rehashed().unwrap().is_none());
}

#[test]
fn chains_that_go_in_circles_end() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let shared = ["-shared", "-fPIC", "-Wl,--hash-style=sysv", "-nostdlib"];
    let functions: String = (0..300)
        .map(|index| format!("int name{index}(void) {{ return {index}; }}\n"))
        .collect();
    let table: String = (0..300).map(|index| format!("name{index},")).collect();
    cc(
        "cc",
        here,
        "libc.so",
        &format!("{functions}void *table[] = {{{table}}};\n"),
        &shared,
    );
    let mut bytes = std::fs::read(here.join("libc.so")).unwrap();
    let facts = Facts::of(&Image::parse(&bytes).unwrap()).unwrap();
    assert_eq!(facts.hash, HashStyle::Sysv);
    // The header of the table: buckets, then as many chains as symbols. Every bucket and chain leads to the first symbol.
    let symbols = (facts.symbols as u32).to_le_bytes();
    let header = (0..2000)
        .step_by(4)
        .find(|&at| bytes[at + 4..at + 8] == symbols && bytes[at] != 0)
        .unwrap();
    let buckets = u32::from_le_bytes(bytes[header..header + 4].try_into().unwrap());
    for index in 0..buckets as usize + facts.symbols as usize {
        let at = header + 8 + 4 * index;
        bytes[at..at + 4].copy_from_slice(&1_u32.to_le_bytes());
    }
    let closure = load_bytes(bytes).unwrap();
    let result = Linker::new(&closure).unwrap().resolve(&mut |_| {});
    assert_eq!(result, Err(Unreadable::Damaged("its tables overlap")));
}

#[test]
fn many_references_to_one_long_name_end() {
    const DYNAMIC: usize = 64 + 2 * 56;
    let long: &'static str = Box::leak("x".repeat(100_000).into_boxed_str());
    let mut needed = vec!["y"; 5000];
    needed.insert(0, long);
    let mut bytes = crate::fake::needs(&needed).bytes();
    assert!(Facts::of(&Image::parse(&bytes).unwrap()).is_ok());
    // Every entry of the dynamic table refers to the first text.
    for entry in bytes[DYNAMIC..].chunks_exact_mut(16).take(5001) {
        entry[8..].copy_from_slice(&1_u64.to_le_bytes());
    }
    let result = Image::parse(&bytes).and_then(|image| Facts::of(&image));
    assert_eq!(result.unwrap_err(), Unreadable::Damaged("its tables overlap"));
}
