//! The heap lab's claims: the single lock costs many times the best heap, the kernel object more than the critical
//! section, the switches show it, and `system` is what a plain C program gets.

use std::process::Command as Process;

use anyhow::{Context, Result};
use stats::summary::median;

use crate::common::{Programs, scaled, tool_json};

const SUBJECTS: &str = "system,single_lock,single_lock_spin,single_lock_kernel,mimalloc,jemalloc,snmalloc";

pub fn run(scale: f64) -> Result<bool> {
    let contended = measure("threads=2", SUBJECTS)?;
    println!(
        "\n2 threads, sizes 1 to 2047:\n\n| subject | ns/op | low | high | switches/s |\n|---|---|---|---|---|"
    );
    let of = |json: &serde_json::Value, subject: &str, metric: &str, figure: &str| {
        let rows = json["measurements"].as_array().cloned().unwrap_or_default();
        let row = rows
            .iter()
            .find(|row| row["subject"] == subject)
            .cloned()
            .unwrap_or_default();
        row["metrics"][metric][figure].as_f64().unwrap_or(f64::NAN)
    };
    for subject in SUBJECTS.split(',') {
        let figure = |name| of(&contended, subject, "ns_per_op", name);
        let switches = of(&contended, subject, "context_switches_per_s", "estimate");
        println!(
            "| {subject} | {:.1} | {:.1} | {:.1} | {switches:.0} |",
            figure("estimate"),
            figure("low"),
            figure("high")
        );
    }
    let cost = |subject: &str| of(&contended, subject, "ns_per_op", "estimate");
    let best = ["system", "mimalloc", "jemalloc", "snmalloc"]
        .map(cost)
        .into_iter()
        .fold(f64::INFINITY, f64::min);
    let ratio = cost("single_lock") / best;
    println!(
        "\nsingle_lock / best heap: {ratio:.1}; kernel object / critical section: {:.2}",
        cost("single_lock_kernel") / cost("single_lock")
    );
    let crowded = measure("threads=8", "system,single_lock")?;
    println!(
        "\n8 threads:\n\n| subject | ns/op | voluntary switches/s | process switches/s | system switches/s |\n|---|---|---|---|---|"
    );
    let switches = |subject: &str, metric: &str| of(&crowded, subject, metric, "estimate");
    for subject in ["system", "single_lock"] {
        println!(
            "| {subject} | {:.1} | {:.0} | {:.0} | {:.0} |",
            switches(subject, "ns_per_op"),
            switches(subject, "voluntary_switches_per_s"),
            switches(subject, "context_switches_per_s"),
            switches(subject, "system_switches_per_s")
        );
    }
    // More threads than processors are switched at the end of each time slice whatever the heap; a thread that waits for the
    // lock gives its processor up itself. So the disease is told by the voluntary switches, and what it adds by all of them.
    let more = |metric, factor| switches("single_lock", metric) > factor * switches("system", metric);
    let symptom = more("voluntary_switches_per_s", 10.0)
        && more("context_switches_per_s", 3.0)
        && more("system_switches_per_s", 3.0);
    let plain = beside_c(scaled(15, scale).max(5))?;
    Ok(ratio >= 8.0
        && cost("single_lock_kernel") > cost("single_lock")
        && symptom
        && (0.9..=1.1).contains(&plain))
}

fn measure(threads: &str, subjects: &str) -> Result<serde_json::Value> {
    tool_json(&[
        "measure",
        "heap/heaptest",
        "--set",
        threads,
        "--set",
        "max_size=2048",
        "--subject",
        subjects,
        "--json",
        "-",
        "--no-store",
        "-q",
    ])
}

/// The median ratio of the worker's figure to the C program's, run by run in turn.
fn beside_c(runs: usize) -> Result<f64> {
    let programs = Programs::new()?;
    let plain = programs.get("heaptest")?;
    let worker = bundle::unpack("worker")?;
    let mut pairs = Vec::new();
    for seed in 0..runs {
        let c = Process::new(&plain)
            .args(["2", "2048", "500000"])
            .output()
            .context("run the C program")?;
        let c: f64 = String::from_utf8_lossy(&c.stdout)
            .trim()
            .parse()
            .context("read the C program's figure")?;
        let job = format!(
            "case=heap/heaptest/threads=2,max_size=2048,count=500000,cpus=0@system\nseed={seed}\nbudget_ns=150000000\nsample_ns=20000000\ncpus="
        );
        let ours = Process::new(&worker)
            .arg(job)
            .output()
            .context("run the worker")?;
        let report = measure::protocol::TrialReport::decode(&String::from_utf8_lossy(&ours.stdout))?;
        pairs.push((report.value("ns_per_op").context("read the worker's figure")?, c));
    }
    let column = |pick: fn(&(f64, f64)) -> f64| {
        median(&pairs.iter().map(pick).collect::<Vec<_>>()).unwrap_or(f64::NAN)
    };
    let ratio = median(&pairs.iter().map(|(ours, c)| ours / c).collect::<Vec<_>>()).unwrap_or(f64::NAN);
    println!(
        "\nsystem in the worker {:.2} ns, the same loop in C {:.2} ns; median ratio of {runs} pairs {ratio:.3}",
        column(|pair| pair.0),
        column(|pair| pair.1)
    );
    Ok(ratio)
}
