//! The shape of the article's result on load time, three times: in the reference loader for PE, under Wine, and for ELF.

use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};

use anyhow::{Context, Result, bail, ensure};
use measure::command::compare::{self, Rule};
use record::model::{CommandMetric, Comparison, Verdict};
use serde_json::Value;
use tempfile::TempDir;

use crate::common::{last_cpu, scaled, tool_json, underhood};

pub fn run(scale: f64) -> Result<bool> {
    let pe = reference(scale)?;
    let elf = elf(scale)?;
    let wine = wine(scale)?;
    Ok(pe && elf && wine)
}

/// One metric of the measurement with this subject and this parameter.
fn figure(document: &Value, subject: &str, parameter: (&str, &str), part: &str) -> Result<f64> {
    document["measurements"]
        .as_array()
        .and_then(|all| {
            all.iter()
                .find(|m| m["subject"] == subject && m["parameters"][parameter.0] == parameter.1)
        })
        .and_then(|m| m["metrics"]["ns_per_op"][part].as_f64())
        .with_context(|| format!("read {subject} with {}={}", parameter.0, parameter.1))
}

/// based < default, bound < based, ordinal < name when not bound, and about the same when bound.
fn reference(scale: f64) -> Result<bool> {
    let runs = scaled(30, scale).max(6).to_string();
    let document = tool_json(&[
        "-q",
        "measure",
        "load",
        "--table",
        "--no-store",
        "--json",
        "-",
        "-r",
        &runs,
    ])?;
    println!("\nThe reference loader, {runs} fresh processes each, medians:\n");
    println!("| imports | as linked, us | based, us | based and bound, us |\n|---|---|---|---|");
    let mut grid = Vec::new();
    for import in ["name", "ordinal"] {
        let mut row = Vec::new();
        for subject in ["default", "based", "bound"] {
            let of = |part| figure(&document, subject, ("import", import), part);
            row.push((of("estimate")? / 1e3, of("low")? / 1e3, of("high")? / 1e3));
        }
        let cell = |(middle, low, high): (f64, f64, f64)| format!("{middle:.1} ({low:.1} to {high:.1})");
        println!(
            "| by {import} | {} | {} | {} |",
            cell(row[0]),
            cell(row[1]),
            cell(row[2])
        );
        grid.push(row);
    }
    let below = |a: (f64, f64, f64), b: (f64, f64, f64)| a.2 < b.1;
    let (name, ordinal) = (&grid[0], &grid[1]);
    let alike = (name[2].0 / ordinal[2].0 - 1.0).abs() < 0.10;
    Ok(below(name[1], name[0])
        && below(name[2], name[1])
        && below(ordinal[1], ordinal[0])
        && below(ordinal[2], ordinal[1])
        && below(ordinal[0], name[0])
        && below(ordinal[1], name[1])
        && alike)
}

/// GNU's hash table against System V's, symbols bound to themselves, nothing to load.
fn elf(scale: f64) -> Result<bool> {
    let runs = scaled(12, scale).max(6).to_string();
    let document = tool_json(&[
        "-q",
        "measure",
        "load/start",
        "--no-store",
        "--json",
        "-",
        "-r",
        &runs,
        "--set",
        "libraries=20",
        "--set",
        "functions=1000",
        "--set",
        "globals=2",
        "--set",
        "name_length=60",
        "--set",
        "references=symbol",
        "--subject",
        "stock,now,sysv_hash,symbolic,static",
    ])?;
    let of = |subject| figure(&document, subject, ("references", "symbol"), "estimate");
    println!(
        "\n20 libraries, 1,000 names of 60 characters and 2,000 symbols of its own each, to the entry, medians of {runs}:\n"
    );
    println!("| linked | us |\n|---|---|");
    for subject in ["stock", "now", "sysv_hash", "symbolic", "static"] {
        println!("| {subject} | {:.0} |", of(subject)? / 1e3);
    }
    let hash = of("sysv_hash")? / of("now")?;
    println!("\nSystem V's hash table / GNU's, bound at the start: {hash:.2}");
    let floor = of("static")?;
    Ok(hash >= 1.5
        && of("symbolic")? < of("stock")?
        && ["stock", "now", "sysv_hash", "symbolic"]
            .into_iter()
            .map(of)
            .all(|time| time.is_ok_and(|time| time > floor)))
}

/// A Wine prefix whose server ends with it.
struct Wine(TempDir);

impl Wine {
    fn command(&self, program: &str) -> Process {
        let mut command = Process::new(program);
        command
            .env("WINEPREFIX", self.0.path())
            .env("WINEARCH", "win64")
            .env("WINEDEBUG", "-all")
            .env("WINEDLLOVERRIDES", "mscoree,mshtml=")
            .env_remove("DISPLAY")
            .stdin(Stdio::null());
        command
    }
}

impl Drop for Wine {
    fn drop(&mut self) {
        for option in ["-k", "-w"] {
            // It ends by itself a while after its last program.
            let _ = self.command("wineserver").arg(option).status();
        }
    }
}

/// LoadLibrary inside a fresh process, 8 libraries of 500 names and 20,000 fixups each.
fn wine(scale: f64) -> Result<bool> {
    let wine = Wine(TempDir::new()?);
    let home = TempDir::new()?;
    let driver = home.path().join("driver.exe");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/loadlibrary.c");
    let built = Process::new("x86_64-w64-mingw32-gcc")
        .arg("-O2")
        .arg("-o")
        .arg(&driver)
        .arg(source)
        .status();
    ensure!(
        built
            .context("run x86_64-w64-mingw32-gcc; install gcc-mingw-w64-x86-64")?
            .success(),
        "build the driver"
    );
    let variants = [
        ("name", false),
        ("name", true),
        ("ordinal", false),
        ("ordinal", true),
    ];
    let mut folders = Vec::new();
    for (import, based) in variants {
        folders.push(set(home.path(), import, based)?);
    }
    // Wine's server and its programs talk all the time: on two processors each word wakes the other one.
    let all = os::thread::current_affinity()?;
    os::thread::pin_current(&[last_cpu()?].into_iter().collect())?;
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); variants.len()];
    let mut random = fastrand::Rng::with_seed(1);
    // The first start makes the prefix.
    for round in 0..=scaled(40, scale).max(12) {
        let mut order: Vec<usize> = (0..variants.len()).collect();
        random.shuffle(&mut order);
        for variant in order {
            let output = wine
                .command("wine")
                .arg(&driver)
                .arg(folders[variant].join("root.dll"))
                .current_dir(&folders[variant])
                .stderr(Stdio::null())
                .output()
                .context("run wine; install wine")?;
            ensure!(
                output.status.success(),
                "load {} under Wine",
                folders[variant].display()
            );
            let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            let ns: f64 = text.parse().with_context(|| format!("read {text:?}"))?;
            if round > 0 {
                times[variant].push(ns / 1e3);
            }
        }
    }
    os::thread::pin_current(&all)?;
    println!("\nWine, LoadLibrary of 8 libraries with 500 names and 20,000 fixups each:\n");
    println!("| imports | files | fastest, us | median, us |\n|---|---|---|---|");
    for ((import, based), all) in variants.iter().zip(&times) {
        let fastest = all.iter().copied().fold(f64::INFINITY, f64::min);
        let middle = stats::summary::median(all).context("no runs")?;
        println!(
            "| by {import} | {} | {fastest:.0} | {middle:.0} |",
            if *based { "based" } else { "as linked" }
        );
    }
    let based = compared(&times[1], &times[0])?;
    let ordinal = compared(&times[3], &times[1])?;
    println!();
    for (what, comparison) in [
        ("rebased by image rebase / as linked, by name", &based),
        ("by ordinal / by name, based", &ordinal),
    ] {
        println!(
            "{what}: {:.3} ({:.3} to {:.3}), {}",
            comparison.ratio,
            comparison.low,
            comparison.high,
            comparison.verdict.word()
        );
    }
    let enough = based.verdict == Verdict::Faster && based.ratio <= 0.85;
    Ok(enough && ordinal.verdict == Verdict::Faster)
}

fn compared(candidate: &[f64], baseline: &[f64]) -> Result<Comparison> {
    let ratios: Vec<f64> = candidate
        .iter()
        .zip(baseline)
        .map(|(after, before)| (after / before).ln())
        .collect();
    compare::comparison(&ratios, CommandMetric::ToExit, 1, Rule::default()).context("no runs")
}

/// Generates a set and a library that needs all of it.
fn set(home: &Path, import: &str, based: bool) -> Result<PathBuf> {
    let folder = home.join(format!("{import}-{based}"));
    let text = folder.display().to_string();
    let made = Process::new(underhood()?)
        .args([
            "-q",
            "image",
            "generate",
            "--format",
            "pe",
            "--libs",
            "8",
            "--functions",
            "500",
        ])
        .args([
            "--globals",
            "40",
            "--align",
            "4096",
            "--import",
            import,
            "--out",
            &text,
        ])
        .stdout(Stdio::null())
        .status()?;
    ensure!(made.success(), "generate {text}");
    let mut libraries: Vec<PathBuf> = std::fs::read_dir(&folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    libraries.retain(|path| path.extension().is_some_and(|extension| extension == "a"));
    if libraries.len() != 8 {
        bail!("find 8 import libraries in {text}");
    }
    let linked = Process::new("x86_64-w64-mingw32-gcc")
        .current_dir(&folder)
        .args([
            "-O1",
            "-w",
            "-shared",
            "-Dmain=unused",
            "-Wl,--image-base=0x300000000",
        ])
        .args([
            "-Wl,--file-alignment=4096",
            "-Wl,--section-alignment=4096",
            "-o",
            "root.dll",
            "app.c",
        ])
        .args(libraries)
        .status()?;
    ensure!(linked.success(), "link root.dll in {text}");
    if based {
        let libraries = (1..=8).map(|number| folder.join(format!("lib{number}.dll")));
        let rebased = Process::new(underhood()?)
            .args(["-q", "image", "rebase", "--clear-dynamic-base", "--no-backup"])
            .args(libraries)
            .stdout(Stdio::null())
            .status()?;
        ensure!(rebased.success(), "rebase the libraries in {text}");
    }
    Ok(folder)
}
