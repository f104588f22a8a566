//! `tune` on programs whose truth is known: two that gain, five that cannot, and those that must be refused.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};

use crate::common::{Programs, tool_json};

/// What a scenario must end with.
enum Must {
    /// A winner.
    Win,
    /// No winner.
    Nothing,
    /// No winner, and this word in the reason of some remedy.
    Refuse(&'static str),
}

struct Scenario {
    name: &'static str,
    options: Vec<String>,
    command: Vec<String>,
    must: Must,
}

fn scenario(name: &'static str, options: &[&str], command: &[&str], must: Must) -> Scenario {
    let own = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    Scenario {
        name,
        options: own(options),
        command: own(command),
        must,
    }
}

pub fn run(scale: f64) -> Result<bool> {
    let programs = Programs::new()?;
    let data = programs.folder().join("data");
    write_data(&data, 50 << 20)?;
    let text = |path: &Path| path.display().to_string();
    let (crossfree, fat, churn) = (
        text(&programs.get("crossfree")?),
        text(&programs.get("fat")?),
        text(&programs.get("churn")?),
    );
    let data = text(&data);
    let own = own_heap(&programs)?;
    let mut scenarios = vec![
        scenario("frees across 2 threads", &[], &[&crossfree, "4"], Must::Win),
        scenario(
            "about 0.7 s, of which a heap saves a quarter",
            &[],
            &[&crossfree, "2", "310"],
            Must::Win,
        ),
        scenario(
            "sort of 50 MB",
            &[],
            &["sort", "-o", "/dev/null", &data],
            Must::Nothing,
        ),
        scenario("sha256sum of 50 MB", &[], &["sha256sum", &data], Must::Nothing),
        scenario("gzip of 50 MB", &[], &["gzip", "-1", "-c", &data], Must::Nothing),
        scenario("python3 start-up", &[], &["python3", "-c", "pass"], Must::Nothing),
        scenario("true", &[], &["/bin/true"], Must::Nothing),
        scenario(
            "faster and 3 times fatter",
            &["--remedy", "glibc.malloc.mmap_threshold=67108864"],
            &[&fat, "6"],
            Must::Refuse("peak memory"),
        ),
        scenario(
            "much slower with a tunable",
            &["--remedy", "glibc.malloc.tcache_count=0"],
            &[&churn, "700"],
            Must::Nothing,
        ),
        scenario(
            "brings its own heap",
            &["--remedy", "heap=mimalloc"],
            &[&own],
            Must::Refuse("own heap"),
        ),
    ];
    if scale < 1.0 {
        scenarios.truncate(scaled_count(scenarios.len(), scale));
    }
    println!(
        "\n| program | winner | confirmed ratio | remedies tried | seconds | as it must |\n|---|---|---|---|---|---|"
    );
    let mut all = true;
    for scenario in &scenarios {
        let started = Instant::now();
        // A program that gains has the 120 s; one that cannot ends undecided, so half of that shows as much.
        let budget = if matches!(scenario.must, Must::Win) {
            "120"
        } else {
            "60"
        };
        let mut arguments: Vec<&str> = vec!["tune", "--json", "-", "--no-store", "-q", "--budget", budget];
        arguments.extend(scenario.options.iter().map(String::as_str));
        arguments.push("--");
        arguments.extend(scenario.command.iter().map(String::as_str));
        let json = tool_json(&arguments).with_context(|| format!("tune {}", scenario.name))?;
        let winner = json["winner"].as_str();
        let reasons = json["arms"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|arm| arm["reason"].as_str())
            .collect::<Vec<_>>();
        let good = match scenario.must {
            Must::Win => winner.is_some(),
            Must::Nothing => winner.is_none(),
            Must::Refuse(word) => winner.is_none() && reasons.iter().any(|reason| reason.contains(word)),
        };
        let tried = json["arms"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|arm| arm["runs"].as_u64() > Some(0))
            .count();
        println!(
            "| {} | {} | {} | {tried} | {:.0} | {} |",
            scenario.name,
            winner.unwrap_or("none"),
            json["confirmed"]["ratio"]
                .as_f64()
                .map_or_else(|| "—".to_owned(), |ratio| format!("{ratio:.3}")),
            started.elapsed().as_secs_f64(),
            if good { "yes" } else { "NO" }
        );
        all &= good;
    }
    Ok(all)
}

fn scaled_count(full: usize, scale: f64) -> usize {
    crate::common::scaled(full, scale)
}

/// Lines of random digits, for sort, gzip and sha256sum.
fn write_data(path: &Path, bytes: usize) -> Result<()> {
    let mut random = fastrand::Rng::with_seed(1);
    let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
    let mut written = 0;
    while written < bytes {
        let line = format!("{:020}\n", random.u64(..));
        file.write_all(line.as_bytes())?;
        written += line.len();
    }
    Ok(file.flush()?)
}

/// A program that is linked with a heap of its own: the system's jemalloc, by its file.
fn own_heap(programs: &Programs) -> Result<String> {
    let heaps = os::loader::installed_heaps();
    let jemalloc = heaps
        .iter()
        .find(|heap| heap.name == "jemalloc")
        .context("find jemalloc; install libjemalloc2")?;
    let source = programs.folder().join("own.c");
    std::fs::write(
        &source,
        "#include <stdlib.h>\nint main(void) { char *volatile p = malloc(9); free(p); return 0; }\n",
    )?;
    let program = programs.folder().join("own");
    let status = std::process::Command::new("cc")
        .arg("-o")
        .arg(&program)
        .arg(&source)
        .arg("-Wl,--no-as-needed")
        .arg(&jemalloc.path)
        .status()?;
    anyhow::ensure!(status.success(), "build a program with its own heap");
    Ok(program.display().to_string())
}
