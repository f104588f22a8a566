//! The documents against stored texts: whatever changes there changes for everyone who reads our files.
//!
//! `UNDERHOOD_REGENERATE=1 cargo test -p underhood-record` writes the texts anew; then read the difference.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use underhood_record::format::{hyperfine, list, run, runs, time, to_text, tune};
use underhood_record::model::{
    BenchmarkInfo, CommandMetric, Comparison, End, NoiseFloor, ParameterInfo, Run, RunId, RunKind, RunStatus,
    RunSummary, SubjectInfo, Support, TuneArm, TuneArmState, Tuning, Verdict,
};

use crate::samples::{empty_run, measure_run, time_run};

/// Compares a document with its stored text, and reads it back.
fn golden<T>(name: &str, document: &T)
where
    T: Serialize + for<'de> Deserialize<'de> + PartialEq + std::fmt::Debug,
{
    let text = to_text(document);
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name);
    if std::env::var_os("UNDERHOOD_REGENERATE").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let expected = fs::read_to_string(&path)
        .unwrap_or_default()
        .replace("\r\n", "\n");
    assert_eq!(text, expected, "{name} differs; see the head of this file");
    assert_eq!(serde_json::from_str::<T>(&text).unwrap(), *document);
}

#[test]
fn run_document() {
    let mut sample = measure_run();
    // What must not reach a reader as a number.
    sample.measurements[1].metrics[0].low = Some(f64::NAN);
    sample.measurements[1].metrics[0].high = Some(f64::INFINITY);
    sample.measurements[1].metrics[1].low = None;
    sample.measurements[1].metrics[1].predicted = Some(1200.0);
    sample.measurements[1].trials[0].course[0].system_per_s = f64::NAN;
    let text = to_text(&run::Document::of(&sample));
    assert!(!text.contains("NaN") && !text.contains("inf"));
    // A missing figure comes back as a missing figure, so the round trip is compared as text.
    let back: run::Document = serde_json::from_str(&text).unwrap();
    assert_eq!(to_text(&back), text);
    golden("run.json", &run::Document::of(&measure_run()));

    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["schema"], "underhood.run/1");
    assert_eq!(
        value["measurements"][0]["case"],
        "heap/heaptest/threads=2,max_size=2048@system"
    );
    assert_eq!(value["measurements"][0]["parameters"]["max_size"], 2048);
    assert_eq!(value["measurements"][0]["metrics"]["ns_per_op"]["estimate"], 14);
    assert_eq!(
        value["measurements"][1]["metrics"]["ns_per_op"]["low"],
        Value::Null
    );
    assert_eq!(value["unsupported"][0]["reason"], "not installed");
    assert_eq!(value["warnings"][0]["code"], "busy-machine");
    assert_eq!(value["seed"], u64::MAX.to_string());
}

#[test]
fn time_document() {
    golden("time.json", &time::Document::of(&time_run()));
    let document = time::Document::of(&time_run());
    // The baseline's double is the noise floor, not a command.
    assert_eq!(document.commands.len(), 2);
    assert_eq!(document.comparisons.len(), 1);
    assert_eq!(document.comparisons[0].command, Some(1));
    assert_eq!(document.noise_floor.unwrap().ratio.0, 1.001);
    let after = &document.commands[1].figures;
    let exit = after.get("to_exit_us").unwrap().as_ref().unwrap();
    assert_eq!((exit.n, exit.estimate.0, exit.min.0), (10, 803.6, 800.0));
    assert_eq!(
        after.get("user_us"),
        Some(&None),
        "half a millisecond of CPU cannot be split"
    );
    assert_eq!(after.get("major_faults"), Some(&None));
}

#[test]
fn an_endless_interval_is_null() {
    let mut run = time_run();
    run.comparisons[0].low = 0.0;
    run.comparisons[0].high = f64::INFINITY;
    let value = serde_json::to_value(time::Document::of(&run)).unwrap();
    assert_eq!(value["comparisons"][0]["low"], 0);
    assert_eq!(value["comparisons"][0]["high"], Value::Null);
}

fn tune_run() -> Run {
    let comparison = |metric, arm, ratio: f64, verdict| Comparison {
        metric,
        arm,
        ratio,
        low: ratio * 0.98,
        high: ratio * 1.02,
        verdict,
        blocks: 24,
        smallest_detectable: None,
        sign_flip_p: None,
        fixed_n: None,
    };
    let arm = |remedy: &str, state, reason: Option<&str>| TuneArm {
        remedy: remedy.into(),
        arm: None,
        state,
        reason: reason.map(str::to_owned),
        in_effect: None,
        output_identical: None,
        effect: None,
        also: Vec::new(),
        runs: 0,
    };
    let winner = TuneArm {
        arm: Some(2),
        in_effect: Some(true),
        output_identical: Some(true),
        effect: Some(comparison(CommandMetric::ToExit, 2, 0.71, Verdict::Faster)),
        also: vec![
            comparison(CommandMetric::Cpu, 2, 0.65, Verdict::Faster),
            comparison(CommandMetric::PeakRss, 2, 1.1, Verdict::Slower),
        ],
        runs: 24,
        ..arm("heap=mimalloc", TuneArmState::Winner, None)
    };
    let session = time_run().session.unwrap();
    Run {
        tuning: Some(Tuning {
            command: vec!["./before".into()],
            goal: "wall".into(),
            noise_floor: Some(NoiseFloor {
                ratio: 1.001,
                low: 0.99,
                high: 1.01,
            }),
            arms: vec![
                winner,
                arm("heap=jemalloc", TuneArmState::Refused, Some("other output")),
                arm(
                    "heap=musl",
                    TuneArmState::NotApplicable,
                    Some("the program is static"),
                ),
            ],
            winner: Some("heap=mimalloc".into()),
            confirmed: Some(comparison(CommandMetric::ToExit, 2, 0.72, Verdict::Faster)),
            sentence: "heap=mimalloc makes it 1.39 times faster.".into(),
            session,
            warnings: Vec::new(),
        }),
        ..empty_run(RunKind::Tune)
    }
}

#[test]
fn tune_document() {
    let document = tune::Document::of(&tune_run()).unwrap();
    golden("tune.json", &document);
    assert_eq!(document.arms[0].effect.as_ref().unwrap().metric, "wall");
    assert_eq!(document.arms[0].also.get("peak_rss").unwrap().ratio.0, 1.1);
    assert!(!document.arms[2].applicable);
    assert_eq!(tune::Document::of(&measure_run()), None);
    let mut nothing = tune_run();
    let tuning = nothing.tuning.as_mut().unwrap();
    (tuning.winner, tuning.confirmed) = (None, None);
    let value = serde_json::to_value(tune::Document::of(&nothing)).unwrap();
    assert_eq!(
        (&value["winner"], &value["confirmed"]),
        (&Value::Null, &Value::Null)
    );
}

#[test]
fn list_document() {
    let subject = |name: &str, support| SubjectInfo {
        name: name.into(),
        support,
    };
    let benchmark = |name: &str, support| BenchmarkInfo {
        name: name.into(),
        summary: "Allocate and free at once".into(),
        parameters: vec![ParameterInfo {
            name: "threads".into(),
            default: "1,32,2,1".into(),
            unit: String::new(),
            summary: "how many threads".into(),
        }],
        subjects: vec![
            subject("system", Support::Yes),
            subject(
                "tcmalloc",
                Support::No("not installed: apt install libtcmalloc-minimal4".into()),
            ),
        ],
        support,
    };
    let rows = [
        benchmark("heap/heaptest", Support::Yes),
        benchmark("sync/keyed_event", Support::No("Windows only".into())),
    ];
    golden("list.json", &list::Document::of(&rows));
}

#[test]
fn runs_document() {
    let row = |id, kind, status| RunSummary {
        id: RunId(id),
        started_unix: 1_700_000_000.5,
        kind,
        status,
        what: "heap/heaptest".into(),
        host: "box".into(),
    };
    let rows = [
        row(2, RunKind::Measure, RunStatus::Open),
        row(1, RunKind::Tune, RunStatus::Interrupted),
    ];
    golden("runs.json", &runs::Document::of(&rows));
}

#[test]
fn hyperfine_document() {
    let mut session = time_run().session.unwrap();
    session.blocks[1].entries[0].end = End::Signaled(9);
    let document = hyperfine::Document::of(&session);
    golden("hyperfine.json", &document);
    assert_eq!(document.results.len(), 2);
    assert_eq!(document.results[0].exit_codes[..3], [Some(0), None, Some(0)]);
    // The fields of an export made by hyperfine 1.15, in its order; 1.19 added memory_usage_byte.
    let value = serde_json::to_value(&document).unwrap();
    let keys: Vec<&String> = value["results"][0].as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "command",
            "mean",
            "stddev",
            "median",
            "user",
            "system",
            "min",
            "max",
            "times",
            "memory_usage_byte",
            "exit_codes"
        ]
    );
    assert_eq!(value["results"][0]["median"], 0.001_004_5);
    assert_eq!(value["results"][0]["memory_usage_byte"][0], 1_048_576);
}
