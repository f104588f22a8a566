//! `select` from outside, below a root or in a home of the test's own: the real settings are never touched.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const RULES: &str = "*=mimalloc; cat = jemalloc ;/usr/bin/with space $HOME \"x\"=snmalloc;sort=system";
const ONE_LINE: &str = "*=mimalloc;cat=jemalloc;/usr/bin/with space $HOME \"x\"=snmalloc;sort=system";

/// Mode, owner, group, and the content of a file.
type Entry = (u32, u32, u32, Option<Vec<u8>>);

struct Sandbox {
    folder: tempfile::TempDir,
}

impl Sandbox {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    /// With a home of its own.
    fn user(&self, arguments: &[&str]) -> Output {
        self.command().arg("select").args(arguments).output().unwrap()
    }

    /// With a root of its own.
    fn system(&self, arguments: &[&str]) -> Output {
        self.command()
            .arg("select")
            .args(arguments)
            .arg("--root")
            .arg(self.folder.path())
            .output()
            .unwrap()
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_underhood"));
        command
            .env("XDG_DATA_HOME", self.path("data"))
            .env("XDG_CONFIG_HOME", self.path("config"));
        for variable in ["LD_PRELOAD", "GLIBC_TUNABLES", "UNDERHOOD_HEAP_SELECT"] {
            command.env_remove(variable);
        }
        command
    }

    /// Everything below: mode, owner, group, and content where it is a file.
    fn tree(&self) -> BTreeMap<PathBuf, Entry> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                let (path, metadata) = (entry.path(), entry.metadata().unwrap());
                if metadata.is_dir() {
                    folders.push(path.clone());
                }
                let content = metadata.is_file().then(|| fs::read(&path).unwrap());
                found.insert(path, (metadata.mode(), metadata.uid(), metadata.gid(), content));
            }
        }
        found
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn succeeded(output: &Output) {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

/// Whether the selector is in a program that shows its own memory. That it chooses the right heap its own tests show.
fn preloads_selector(variables: &[(String, String)], program: &str) -> bool {
    let output = Command::new(program)
        .arg("/proc/self/maps")
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .output()
        .unwrap();
    assert_eq!(text(&output.stderr), "");
    text(&output.stdout).contains("libunderhood_selector.so")
}

#[test]
fn the_machines_choice_is_made_and_undone_byte_for_byte() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path("etc")).unwrap();
    let list = sandbox.path("etc/ld.so.preload");
    fs::write(&list, b"# theirs\n/lib/other.so").unwrap();
    fs::set_permissions(&list, fs::Permissions::from_mode(0o664)).unwrap();
    let before = sandbox.tree();

    succeeded(&sandbox.system(&[RULES, "--system"]));
    let library = "/usr/local/lib/underhood/libunderhood_selector.so";
    assert_eq!(
        text(&fs::read(&list).unwrap()),
        format!("# theirs\n/lib/other.so\n{library}\n")
    );
    assert_eq!(fs::metadata(&list).unwrap().mode() & 0o7777, 0o664);
    let rules = text(&fs::read(sandbox.path("etc/underhood/heap-select")).unwrap());
    assert!(rules.ends_with(&format!("\n{ONE_LINE}\n")), "{rules}");
    let copy = fs::metadata(sandbox.path(&library[1..])).unwrap();
    assert_eq!(copy.mode() & 0o7777, 0o755);

    // Again, with other rules: the way back leads to the same beginning.
    succeeded(&sandbox.system(&["*=jemalloc", "--system"]));
    assert_eq!(
        text(&fs::read(&list).unwrap()),
        format!("# theirs\n/lib/other.so\n{library}\n")
    );
    let output = sandbox.system(&["--show"]);
    succeeded(&output);
    let shown = text(&output.stdout);
    assert!(
        shown.contains("system        *=jemalloc") && shown.contains("as we left it"),
        "{shown}"
    );

    succeeded(&sandbox.system(&["--undo", "--system"]));
    assert_eq!(sandbox.tree(), before);
    assert_eq!(sandbox.system(&["--undo", "--system"]).status.code(), Some(4));
    assert_eq!(sandbox.tree(), before);
}

#[test]
fn what_others_wrote_meanwhile_stays() {
    let sandbox = Sandbox::new();
    succeeded(&sandbox.system(&["*=mimalloc", "--system"]));
    let list = sandbox.path("etc/ld.so.preload");
    let mut content = fs::read(&list).unwrap();
    content.extend_from_slice(b"/lib/late.so\n");
    fs::write(&list, content).unwrap();
    // A file that is ours as a whole is another matter.
    let rules = sandbox.path("etc/underhood/heap-select");
    let ours = fs::read(&rules).unwrap();
    fs::write(&rules, "*=system\n").unwrap();
    let output = sandbox.system(&["--undo", "--system"]);
    assert_eq!(output.status.code(), Some(4));
    assert!(
        text(&output.stderr).contains("somebody changed it"),
        "{}",
        text(&output.stderr)
    );
    assert!(text(&sandbox.system(&["--show"]).stdout).contains("changed by somebody since"));
    fs::write(&rules, ours).unwrap();
    succeeded(&sandbox.system(&["--undo", "--system"]));
    assert_eq!(fs::read(&list).unwrap(), b"/lib/late.so\n");
    assert!(!rules.exists());
}

#[test]
fn a_users_choice_reaches_programs_through_the_variables() {
    let sandbox = Sandbox::new();
    let before = sandbox.tree();
    let output = sandbox.user(&[RULES, "--user"]);
    succeeded(&output);
    let file = sandbox.path("config/environment.d/60-underhood.conf");
    let library = sandbox.path("data/underhood/lib/libunderhood_selector.so");
    let written = fs::read_to_string(&file).unwrap();
    assert!(
        written.contains(&format!(
            "LD_PRELOAD=\"{}${{LD_PRELOAD:+:$LD_PRELOAD}}\"\n",
            library.display()
        )),
        "{written}"
    );

    // The printed lines, as a shell takes them.
    let script = format!(
        "{}printf '%s\\n' \"$LD_PRELOAD\" \"$UNDERHOOD_HEAP_SELECT\"",
        text(&output.stdout)
    );
    let told = Command::new("sh")
        .arg("-c")
        .arg(&script)
        .env("LD_PRELOAD", "libm.so.6")
        .output()
        .unwrap();
    assert_eq!(
        text(&told.stdout),
        format!("{}:libm.so.6\n{ONE_LINE}\n", library.display())
    );

    // The file, as systemd takes it.
    let variables = match generated(&sandbox) {
        Some(variables) => variables,
        None => vec![
            ("LD_PRELOAD".to_owned(), library.display().to_string()),
            ("UNDERHOOD_HEAP_SELECT".to_owned(), ONE_LINE.to_owned()),
        ],
    };
    let value = |name: &str| {
        variables
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    };
    assert_eq!(value("UNDERHOOD_HEAP_SELECT"), Some(ONE_LINE));
    assert_eq!(value("LD_PRELOAD"), Some(library.to_str().unwrap()));
    assert!(preloads_selector(&variables, "cat"));

    succeeded(&sandbox.user(&["--undo", "--user"]));
    assert_eq!(sandbox.tree(), before);
}

/// The variables that systemd's generator makes of the sandbox's environment.d; `None` where it is not installed.
fn generated(sandbox: &Sandbox) -> Option<Vec<(String, String)>> {
    let generator = "/usr/lib/systemd/user-environment-generators/30-systemd-environment-d-generator";
    if !Path::new(generator).exists() {
        return None;
    }
    let output = Command::new(generator)
        .env_clear()
        .env("HOME", sandbox.folder.path())
        .env("XDG_CONFIG_HOME", sandbox.path("config"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    // It prints a form that a shell reads.
    let script = format!(
        "{}\nexec env",
        text(&output.stdout)
            .lines()
            .map(|line| format!("export {line}\n"))
            .collect::<String>()
    );
    let printed = Command::new("sh")
        .arg("-c")
        .arg(script)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .output()
        .unwrap();
    assert!(printed.status.success(), "{}", text(&printed.stderr));
    let lines = text(&printed.stdout);
    Some(
        lines
            .lines()
            .filter_map(|line| line.split_once('='))
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect(),
    )
}

#[test]
fn a_library_in_use_outlives_the_choice() {
    let sandbox = Sandbox::new();
    succeeded(&sandbox.user(&["*=mimalloc", "--user"]));
    let library = sandbox.path("data/underhood/lib/libunderhood_selector.so");
    // Reads until its input ends.
    let mut child = Command::new("cat")
        .env("LD_PRELOAD", &library)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let output = sandbox.user(&["--undo", "--user"]);
    let there = library.exists();
    drop(child.stdin.take());
    child.wait().unwrap();
    succeeded(&output);
    assert!(there, "{}", text(&output.stderr));
    assert!(
        text(&output.stderr).contains("stays for now"),
        "{}",
        text(&output.stderr)
    );
    assert!(!sandbox.path("config/environment.d").exists());
    // Nothing is left to undo, and now nothing needs the library.
    assert_eq!(sandbox.user(&["--undo", "--user"]).status.code(), Some(4));
    assert!(!library.exists());
}

#[test]
fn show_names_the_rule_that_wins() {
    let sandbox = Sandbox::new();
    let shown = |program: &str| {
        let output = sandbox.system(&["--show", program]);
        succeeded(&output);
        text(&output.stdout)
    };
    assert!(shown("cat").contains("no rules are set"));
    succeeded(&sandbox.system(&[RULES, "--system"]));
    assert!(
        shown("cat").contains("jemalloc, by the rule cat=jemalloc"),
        "{}",
        shown("cat")
    );
    assert!(
        shown("sort").contains("system, by the rule sort=system"),
        "{}",
        shown("sort")
    );
    assert!(shown("/usr/bin/env").contains("mimalloc, by the rule *=mimalloc"));
    let output = sandbox.system(&["--show", "/nonexistent/program"]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn faults_are_named_and_change_nothing() {
    let sandbox = Sandbox::new();
    for (arguments, expected) in [
        (&["*=mimalloc;x=tcmalloc", "--user"][..], "position 14"),
        (&["nonsense", "--system"], "no '='"),
        (&[" ; ", "--user"], "find a heap rule"),
        (&["*=mimalloc"], "--user or --system"),
        (&[], "find heap rules"),
        (&["--undo"], "say what"),
        (&["*=system", "--undo", "--user"], "say what"),
    ] {
        let output = sandbox.system(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(
            text(&output.stderr).contains(expected),
            "{arguments:?}: {}",
            text(&output.stderr)
        );
    }
    assert_eq!(
        sandbox.system(&["--undo", "/nonexistent/file"]).status.code(),
        Some(4)
    );
    assert!(sandbox.tree().is_empty());
}

#[test]
fn an_existing_file_of_somebody_else_is_kept() {
    let sandbox = Sandbox::new();
    let file = sandbox.path("config/environment.d/60-underhood.conf");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "THEIRS=1\n").unwrap();
    let before = sandbox.tree();
    assert_eq!(sandbox.user(&["*=mimalloc", "--user"]).status.code(), Some(4));
    assert_eq!(sandbox.tree(), before);
    succeeded(&sandbox.user(&["*=mimalloc", "--user", "--force"]));
    succeeded(&sandbox.user(&["--undo", "--user"]));
    assert_eq!(sandbox.tree(), before);
}

#[test]
fn a_home_that_a_list_cannot_name_is_refused() {
    let sandbox = Sandbox::new();
    let output = sandbox
        .command()
        .args(["select", "*=mimalloc", "--user"])
        .env("XDG_DATA_HOME", "/tmp/with blank")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(
        text(&output.stderr).contains("XDG_DATA_HOME"),
        "{}",
        text(&output.stderr)
    );
}
