//! Bound copies: how much faster they start, and that they are never wrong.
//!
//! A generated set, ten programs of the distribution with many libraries, and each of these in every surrounding in which a
//! copy could be wrong. Programs that are missing are installed where that is allowed.

mod safety;

use std::path::{Path, PathBuf};
use std::process::{Command as Process, Output, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use tempfile::TempDir;

use crate::common::{scaled, tool_json, underhood};

/// A real program: its package, its file, what it is asked to do (the same output every time), and whether it asks where its
/// own file lies.
struct Program {
    package: &'static str,
    file: &'static str,
    arguments: &'static [&'static str],
    curious: bool,
}

const fn program(package: &'static str, file: &'static str, arguments: &'static [&'static str]) -> Program {
    Program {
        package,
        file,
        arguments,
        curious: false,
    }
}

const PROGRAMS: [Program; 10] = [
    program(
        "ffmpeg",
        "/usr/bin/ffmpeg",
        &[
            "-v",
            "error",
            "-f",
            "lavfi",
            "-i",
            "testsrc=d=0.2:s=64x64",
            "-f",
            "md5",
            "-",
        ],
    ),
    program("ffmpeg", "/usr/bin/ffprobe", &["-v", "error", "-codecs"]),
    program("mpv", "/usr/bin/mpv", &["--no-config", "--list-options"]),
    program("inkscape", "/usr/bin/inkscape", &["--version"]),
    program("evince", "/usr/bin/evince", &["--help-all"]),
    program("tshark", "/usr/bin/tshark", &["-G", "protocols"]),
    program("qpdfview", "/usr/bin/qpdfview", &["--help"]),
    program(
        "gnuplot-qt",
        "/usr/bin/gnuplot-qt",
        &["-e", "set terminal dumb; plot sin(x)"],
    ),
    Program {
        package: "gdb",
        file: "/usr/bin/gdb",
        arguments: &["-nx", "-batch", "-ex", "print 6*7"],
        curious: true,
    },
    Program {
        package: "librsvg2-bin",
        file: "/usr/bin/rsvg-convert",
        arguments: &["--format=png"],
        curious: true,
    },
];

/// Every program is asked to do its work with this on its standard input, in this environment.
const INPUT: &str =
    "<svg xmlns='http://www.w3.org/2000/svg' width='20' height='20'><circle cx='9' cy='9' r='5'/></svg>";

impl Program {
    /// The same work by another file in the program's place, behind a wrapper.
    fn run(&self, wrapper: &[&str], file: &Path, change: &dyn Fn(&mut Process)) -> Result<Output> {
        use std::io::Write as _;
        let patience = ["timeout", "--signal=KILL", "120"];
        let mut words: Vec<String> = patience
            .iter()
            .chain(wrapper)
            .map(|word| (*word).to_owned())
            .collect();
        words.push(file.display().to_string());
        words.extend(self.arguments.iter().map(|word| (*word).to_owned()));
        let mut command = Process::new(&words[0]);
        command
            .args(&words[1..])
            .env("QT_QPA_PLATFORM", "offscreen")
            .env("UNDERHOOD_VERBOSE", "1")
            .env_remove("LD_LIBRARY_PATH")
            .env_remove("LD_PRELOAD")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        change(&mut command);
        let mut child = command
            .spawn()
            .with_context(|| format!("run {}", words.join(" ")))?;
        // One that does not read is gone before it is written to.
        let _ = child
            .stdin
            .take()
            .map(|mut input| input.write_all(INPUT.as_bytes()));
        Ok(child.wait_with_output()?)
    }

    fn name(&self) -> &'static str {
        self.file.rsplit('/').next().unwrap_or(self.file)
    }
}

pub fn run(scale: f64) -> Result<bool> {
    install()?;
    let set = generated(scale)?;
    let programs = programs(scale)?;
    Ok(set && programs)
}

/// Installs what is missing.
fn install() -> Result<()> {
    let missing: Vec<&str> = PROGRAMS
        .iter()
        .filter(|program| !Path::new(program.file).exists())
        .map(|program| program.package)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    eprintln!("installing {}", missing.join(", "));
    let installed = Process::new("apt-get")
        .args(["install", "--yes", "--quiet", "--no-install-recommends"])
        .args(&missing)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdout(Stdio::null())
        .status();
    ensure!(
        installed.context("run apt-get")?.success(),
        "install {}; as root: apt-get install {}",
        missing.join(", "),
        missing.join(" ")
    );
    Ok(())
}

/// A ratio with its interval and its verdict.
struct Ratio {
    middle: f64,
    low: f64,
    high: f64,
    verdict: String,
}

impl Ratio {
    fn of(document: &Value, metric: &str) -> Result<Self> {
        let found = document["comparisons"]
            .as_array()
            .and_then(|all| all.iter().find(|one| one["metric"] == metric));
        let found = found.with_context(|| format!("find the comparison of {metric}"))?;
        let number = |key: &str| {
            found[key]
                .as_f64()
                .with_context(|| format!("read {key} of {metric}"))
        };
        Ok(Self {
            middle: number("ratio")?,
            low: number("low")?,
            high: number("high")?,
            verdict: found["verdict"].as_str().unwrap_or_default().to_owned(),
        })
    }

    fn text(&self) -> String {
        format!("{:.3} ({:.3} to {:.3})", self.middle, self.low, self.high)
    }
}

/// The copy against the original, in blocks.
fn timed(to: &str, baseline: &str, candidate: &[&str], runs: usize) -> Result<Value> {
    let runs = runs.to_string();
    let fixed = [
        "-q",
        "time",
        "--to",
        to,
        "--no-store",
        "--json",
        "-",
        "-r",
        &runs,
        "--ignore-failure",
        "--vs",
        baseline,
        "--",
    ];
    tool_json(&[&fixed, candidate].concat())
}

fn bind(program: &Path, out: &Path, curious: bool) -> Result<Value> {
    let (program, out) = (program.display().to_string(), out.display().to_string());
    let mut words = vec!["-q", "image", "bind", &program, "--out", &out, "--json", "-"];
    if curious {
        words.push("--noticing");
    }
    tool_json(&words)
}

/// 20 libraries, 20,000 names of 60 characters, 400,000 relative relocations.
fn generated(scale: f64) -> Result<bool> {
    let home = TempDir::new()?;
    let folder = |name: &str| home.path().join(name);
    for (name, more) in [("stock", &[][..]), ("static-pie", &["--static-pie"])] {
        let out = folder(name).display().to_string();
        let made = Process::new(underhood()?)
            .args([
                "-q",
                "image",
                "generate",
                "--libs",
                "20",
                "--functions",
                "1000",
                "--globals",
                "20",
            ])
            .args([
                "--refs", "table", "--names", "cxx:60", "--bind", "now", "--out", &out,
            ])
            .args(more)
            .stdout(Stdio::null())
            .status()?;
        ensure!(made.success(), "generate the set");
    }
    bind(&folder("stock").join("app"), &folder("bound"), false)?;
    let path = |name: &str| folder(name).join("app").display().to_string();
    let runs = scaled(60, scale).max(12);
    let entry = timed("entry", &path("stock"), &[&path("bound")], runs)?;
    let exit = timed("exit", &path("static-pie"), &[&path("bound")], runs)?;
    let time = Ratio::of(&entry, "to_entry_us")?;
    let faults = Ratio::of(&entry, "minor_faults")?;
    let whole = Ratio::of(&exit, "to_exit_us")?;
    println!(
        "\nA generated set: 20 libraries, 20,000 names of 60 characters, 400,000 relative relocations, {runs} blocks:\n"
    );
    println!("| bound copy, guard included, against | what | ratio | asked |\n|---|---|---|---|");
    println!("| stock | to the entry | {} | 0.2 |", time.text());
    println!("| stock | minor faults | {} | 0.25 |", faults.text());
    println!("| static-pie | to the exit | {} | 1 |", whole.text());
    Ok(time.high <= 0.2 && faults.high <= 0.25 && whole.verdict == "faster")
}

fn programs(scale: f64) -> Result<bool> {
    let home = TempDir::new()?;
    // Others must be able to run the copies.
    std::fs::set_permissions(home.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    let runs = scaled(40, scale).max(12);
    println!("\nPrograms of the distribution, {runs} blocks each:\n");
    println!(
        "| program | libraries | to the entry, stock | bound | ratio | minor faults | same output | words compared | falls back |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let (mut faster, mut half, mut sound) = (0, 0, 0);
    for program in &PROGRAMS {
        eprintln!("{}", program.file);
        let document = bind(Path::new(program.file), home.path(), program.curious)?;
        let copy = home.path().join(program.name());
        let stock = program.run(&[], Path::new(program.file), &|_| {})?;
        let bound = program.run(&[], &copy, &|_| {})?;
        let same =
            stock.stdout == bound.stdout && stock.stderr == bound.stderr && stock.status == bound.status;
        let entry = timed(
            "entry",
            &shell_words::join(words(program, Path::new(program.file))),
            &texts(&words(program, &copy)),
            runs,
        )?;
        let time = Ratio::of(&entry, "to_entry_us")?;
        let faults = Ratio::of(&entry, "minor_faults")?;
        let problems = safety::of(program, &copy, &stock)?;
        let verified = &document["verified"];
        let clean = verified["differences"] == 0 && verified["words"].as_u64() > Some(0);
        println!(
            "| {} | {} | {} | {} | {} | {:.2} | {} | {} | {} |",
            program.name(),
            document["objects"].as_array().map_or(0, Vec::len) - 1,
            milliseconds(&entry, 0)?,
            milliseconds(&entry, 1)?,
            time.text(),
            faults.middle,
            if same { "yes" } else { "NO" },
            if clean {
                verified["words"].to_string()
            } else {
                format!("DIFFERENCES: {}", verified["differences"])
            },
            if problems.is_empty() {
                "always when it must".to_owned()
            } else {
                problems.join("; ")
            },
        );
        faster += u32::from(time.verdict == "faster");
        half += u32::from(time.high <= 0.5);
        sound += u32::from(same && clean && problems.is_empty() && time.verdict != "slower");
    }
    println!("\nFaster: {faster} of 10; at most half: {half} of 10; never wrong: {sound} of 10");
    Ok(faster >= 8 && half >= 6 && sound == 10)
}

fn words(program: &Program, file: &Path) -> Vec<String> {
    let arguments = program.arguments.iter().map(|word| (*word).to_owned());
    std::iter::once(file.display().to_string())
        .chain(arguments)
        .collect()
}

fn texts(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

/// The median time of one of the commands.
fn milliseconds(document: &Value, command: usize) -> Result<String> {
    let Some(us) = document["commands"][command]["to_entry_us"]["estimate"].as_f64() else {
        bail!("read the time of command {command}");
    };
    Ok(format!("{:.2} ms", us / 1e3))
}

/// The copy of a library in a set.
fn library_of(copy: &Path) -> Result<(PathBuf, PathBuf)> {
    let hidden = copy
        .parent()
        .context("find the folder of the copy")?
        .join(".underhood");
    let name = copy
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    for entry in std::fs::read_dir(hidden)? {
        let folder = entry?.path();
        let ours = folder
            .file_name()
            .is_some_and(|file| file.to_string_lossy().starts_with(&format!("{name}-")));
        if !ours {
            continue;
        }
        let document: Value = serde_json::from_slice(&std::fs::read(folder.join("bound.json"))?)?;
        let objects = document["objects"].as_array().context("read the objects")?;
        let found = objects
            .iter()
            .skip(1)
            .find_map(|object| Some((object["file"].as_str()?, object["copy"].as_str()?)));
        let (original, copy) = found.context("find a copied library")?;
        return Ok((PathBuf::from(original), PathBuf::from(copy)));
    }
    bail!("find the set of {}", copy.display())
}
