//! Programs of every kind, made by the C compiler for the purpose.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use super::*;

const MAIN: &str = "int main(void){return 0;}";
/// A program without any C library.
const BARE: &str = "void _start(void){for(;;);}";

struct Workshop(tempfile::TempDir);

impl Workshop {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn compile(&self, source: &str, options: &[&str]) -> Program {
        classify(&self.build(source, options)).unwrap()
    }

    fn build(&self, source: &str, options: &[&str]) -> PathBuf {
        let code = self.path("code.c");
        let program = self.path("program");
        fs::write(&code, source).unwrap();
        let output = Command::new("cc")
            .arg(&code)
            .arg("-o")
            .arg(&program)
            .args(options)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        program
    }

    fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }
}

#[test]
fn a_system_program_is_dynamic() {
    let program = classify(Path::new("/bin/true")).unwrap();
    assert_eq!(program.format, Format::Elf);
    assert_eq!(program.libc, Libc::Glibc);
    let Linkage::Dynamic { interpreter } = &program.linkage else {
        panic!("{program:?}")
    };
    assert!(interpreter.is_file(), "{interpreter:?}");
    assert_eq!(program.needed, ["libc.so.6"]);
    assert_eq!(program.own_heap, None);
}

#[test]
fn every_linkage_is_told_apart() {
    let shop = Workshop::new();
    let program = shop.compile(MAIN, &["-static"]);
    assert_eq!(
        (program.linkage, program.libc, program.own_heap),
        (Linkage::Static, Libc::Glibc, None)
    );
    let program = shop.compile(MAIN, &["-static-pie"]);
    assert_eq!((program.linkage, program.libc), (Linkage::StaticPie, Libc::Glibc));
    let program = shop.compile(MAIN, &["-static", "-s"]);
    assert_eq!(
        (program.linkage, program.libc, program.own_heap),
        (Linkage::Static, Libc::Glibc, None)
    );
    let program = shop.compile(
        "#include <stdio.h>\nvoid f(void){puts(\"\");}",
        &["-shared", "-fPIC"],
    );
    assert_eq!((program.linkage, program.libc), (Linkage::Library, Libc::Glibc));
    let program = shop.compile(BARE, &["-static", "-nostdlib"]);
    assert_eq!((program.linkage, program.libc), (Linkage::Static, Libc::Unknown));
    let object = shop.build(MAIN, &["-c"]);
    assert!(matches!(classify(&object), Err(ClassifyError::Malformed { .. })));
}

#[test]
fn static_musl_is_known_by_its_size_classes() {
    let table = "const unsigned short t[]={1,2,3,4,5,6,7,8,9,10,12,15,18,20,25,31,36,42,50,63,72};";
    let program = Workshop::new().compile(&format!("{table}{BARE}"), &["-static", "-nostdlib", "-s"]);
    assert_eq!(program.libc, Libc::Musl);
}

#[test]
fn go_is_known_by_its_sections() {
    let mark = "__attribute__((section(\".go.buildinfo\"))) int info = 1;";
    let program = Workshop::new().compile(&format!("{mark}{BARE}"), &["-static", "-nostdlib"]);
    assert!(program.go);
    assert_eq!(program.libc, Libc::None);
}

#[test]
fn heaps_that_programs_bring_are_found() {
    let shop = Workshop::new();
    let heap = |source: &str, options: &[&str]| shop.compile(source, options).own_heap;
    let mimalloc = "void *mi_malloc(unsigned long n){return 0;} int main(void){return mi_malloc(1)!=0;}";
    assert_eq!(heap(mimalloc, &[]).as_deref(), Some("mimalloc"));
    // Rust's jemalloc, built into a static program.
    let rust = "void *_rjem_mallocx(unsigned long n){return 0;} int main(void){return _rjem_mallocx(1)!=0;}";
    assert_eq!(heap(rust, &["-static"]).as_deref(), Some("jemalloc"));
    // The same without symbols: only the text of its messages is left.
    let text = "#include <stdio.h>\nint main(void){puts(\"<jemalloc>: bad\"); return 0;}";
    assert_eq!(heap(text, &["-s"]).as_deref(), Some("jemalloc"));
    // With symbols a text proves nothing, they would show the heap itself.
    assert_eq!(heap(text, &[]), None);
    let own = "#include <stddef.h>\nvoid *malloc(size_t n){return 0;} int main(void){return malloc(1)!=0;}";
    assert_eq!(
        heap(own, &["-fno-builtin", "-rdynamic"]).as_deref(),
        Some("a malloc of its own")
    );
    // Asking whether a heap happens to be there is no heap.
    let wish = "__attribute__((weak)) void *mallocx(unsigned long); int main(void){return mallocx!=0;}";
    assert_eq!(heap(wish, &[]), None);
    // A needed library: any will do under that name.
    let library = shop.path("libjemalloc.so.2");
    fs::rename(
        shop.build(
            "void je(void){}",
            &["-shared", "-fPIC", "-Wl,-soname,libjemalloc.so.2"],
        ),
        &library,
    )
    .unwrap();
    let linked = heap(
        "void je(void); int main(void){je(); return 0;}",
        &[library.to_str().unwrap()],
    );
    assert_eq!(linked.as_deref(), Some("jemalloc"));
}

#[test]
fn rights_are_seen() {
    let shop = Workshop::new();
    let program = shop.build(MAIN, &[]);
    fs::set_permissions(&program, fs::Permissions::from_mode(0o6755)).unwrap();
    let found = classify(&program).unwrap();
    assert!(found.setuid && found.setgid && !found.file_caps);
    // It is our own, so it gains nothing.
    assert!(!found.secure);
}

#[test]
fn scripts_are_followed_to_the_program() {
    let shop = Workshop::new();
    let plain = shop.script("plain", "#!/bin/sh -e\n");
    let program = classify(&plain).unwrap();
    let sh = PathBuf::from("/bin/sh");
    assert_eq!(
        program.format,
        Format::Script {
            interpreter: sh.clone(),
            chain: vec![plain.clone(), sh.clone()]
        }
    );
    assert_eq!(program.libc, Libc::Glibc);

    let nested = shop.script("nested", &format!("#!{} x\n", plain.display()));
    let Format::Script { interpreter, chain } = classify(&nested).unwrap().format else {
        panic!()
    };
    assert_eq!(interpreter, sh);
    assert_eq!(chain, [nested, plain, sh]);

    let by_env = shop.script("by_env", "#!/usr/bin/env -S sh -e\n");
    let Format::Script { interpreter, chain } = classify(&by_env).unwrap().format else {
        panic!()
    };
    assert_eq!(interpreter.file_name(), Some(OsStr::new("sh")));
    assert_eq!(chain.len(), 3);
    assert_eq!(chain[1], Path::new("/usr/bin/env"));
}

#[test]
fn scripts_that_lead_nowhere_are_refused() {
    let shop = Workshop::new();
    let lost = shop.script("lost", "#!/no/such/interpreter\n");
    let error = classify(&lost).unwrap_err();
    assert!(matches!(error, ClassifyError::NoInterpreter { .. }), "{error}");
    assert!(error.to_string().contains("/no/such/interpreter"), "{error}");
    let lost = shop.script("lost", "#!/usr/bin/env no-such-program-anywhere\n");
    assert!(matches!(
        classify(&lost),
        Err(ClassifyError::NoInterpreter { .. })
    ));
    let circle = shop.path("circle");
    let circle = shop.script("circle", &format!("#!{}\n", circle.display()));
    assert!(matches!(classify(&circle), Err(ClassifyError::TooDeep { .. })));
}

#[test]
fn a_pipe_does_not_block() {
    let shop = Workshop::new();
    let pipe = shop.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert!(matches!(classify(&pipe), Err(ClassifyError::NotAFile { .. })));
}

#[test]
fn a_file_that_claims_much_costs_little() {
    let shop = Workshop::new();
    let program = shop.build(MAIN, &[]);
    let mut bytes = fs::read(&program).unwrap();
    // The sections begin a terabyte further on and there are very many.
    bytes[40..48].copy_from_slice(&(1_u64 << 40).to_le_bytes());
    bytes[60..62].copy_from_slice(&u16::MAX.to_le_bytes());
    fs::write(&program, &bytes).unwrap();
    fs::File::options()
        .write(true)
        .open(&program)
        .unwrap()
        .set_len(1 << 42)
        .unwrap();
    // It runs, so it is understood, only without symbols.
    let found = classify(&program).unwrap();
    assert_eq!(found.libc, Libc::Glibc);
}

#[test]
fn execvp_remembers_what_may_not_be_run() {
    let shop = Workshop::new();
    for folder in ["a", "b"] {
        fs::create_dir(shop.path(folder)).unwrap();
    }
    fs::write(shop.path("a/tool"), "").unwrap();
    let path = format!("{0}/a:{0}/b:{0}/a/tool", shop.0.path().display());
    let error = find_in_path(OsStr::new("tool"), Some(OsStr::new(&path))).unwrap_err();
    let NotFound::NotExecutable { path: file, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(*file, shop.path("a/tool"));
    assert!(error.to_string().contains("chmod"), "{error}");
    // A later folder that has it wins.
    let good = shop.script("b/tool", "#!/bin/sh\n");
    assert_eq!(
        find_in_path(OsStr::new("tool"), Some(OsStr::new(&path))),
        Ok(good)
    );
    assert!(find_in_path(OsStr::new("sh"), None).is_ok());
}

#[test]
fn the_loader_lists_its_tunables() {
    let tunables = tunables();
    let arenas = tunables
        .iter()
        .find(|tunable| tunable.name == "glibc.malloc.arena_max");
    assert!(
        arenas.is_some_and(|tunable| tunable.max.is_some()),
        "{tunables:?}"
    );
    assert_eq!(tunables_of(Path::new("/bin/false")), []);
    assert_eq!(tunables_of(Path::new("/no/such/loader")), []);
}

#[test]
fn installed_heaps_can_be_preloaded() {
    for heap in installed_heaps() {
        let output = Command::new("/bin/cat")
            .arg("/proc/self/maps")
            .env(preload_variable().unwrap(), &heap.path)
            .output()
            .unwrap();
        let maps = String::from_utf8_lossy(&output.stdout).into_owned();
        let file = heap.path.canonicalize().unwrap();
        assert!(
            maps.contains(file.to_str().unwrap()),
            "{heap:?} is not mapped:\n{maps}"
        );
        assert!(
            output.stderr.is_empty(),
            "{heap:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn the_libraries_of_another_process_are_seen() {
    let mut child = Command::new("/bin/sh")
        .args(["-c", "echo started; read line"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // What it writes comes after its loader has done its work.
    child.stdout.as_mut().unwrap().read_exact(&mut [0; 8]).unwrap();
    let files = mapped_libraries(child.id());
    drop(child.stdin.take());
    child.wait().unwrap();
    let files = files.unwrap();
    assert!(files.iter().any(|file| file.ends_with("libc.so.6")), "{files:?}");
}
