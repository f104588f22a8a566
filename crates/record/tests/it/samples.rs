//! Small runs with known content.

use underhood_record::model::{
    ArmKind, Block, ClockFacts, CommandMetric, Comparison, End, Entry, Environment, Measurement, Metric,
    Point, Run, RunKind, RunStatus, Session, SessionArm, Trial, Unit, Unsupported, Verdict, Warning,
};

pub fn empty_run(kind: RunKind) -> Run {
    Run {
        kind,
        started_unix: 1_700_000_000.5,
        arguments: vec!["underhood".into(), kind.name().into()],
        seed: u64::MAX,
        environment: Environment {
            facts: [("host", "box"), ("kernel", "6.1"), ("cpus", "2")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .to_vec(),
            clock: Some(ClockFacts {
                name: "tsc".into(),
                resolution_ns: 0.5,
                cost_ns: 12.0,
                reason: "constant and nonstop".into(),
            }),
        },
        status: RunStatus::Complete,
        measurements: Vec::new(),
        unsupported: Vec::new(),
        session: None,
        comparisons: Vec::new(),
        tuning: None,
        warnings: Vec::new(),
    }
}

pub fn trial(position: u32, ns: f64) -> Trial {
    Trial {
        position,
        seed: 7 + u64::from(position),
        samples: vec![ns, ns * 1.25, ns * 0.75],
        values: vec![("ns_per_op".into(), ns), ("context_switches_per_s".into(), 1e3)],
        course: vec![
            Point {
                at_ns: 0.0,
                voluntary_per_s: 1.0,
                involuntary_per_s: 2.0,
                system_per_s: 3.0,
            },
            Point {
                at_ns: 1e8,
                voluntary_per_s: 4.0,
                involuntary_per_s: 5.0,
                system_per_s: 6.0,
            },
        ],
        contaminated: (position == 3).then(|| "a foreign process used the CPU".into()),
    }
}

fn measurement(case: &str, ns: f64, first: u32) -> Measurement {
    let metric = |name: &str, unit, estimate: f64| Metric {
        name: name.into(),
        unit,
        estimate,
        low: Some(estimate * 0.98),
        high: Some(estimate * 1.02),
        min: estimate * 0.95,
        trials: 6,
        predicted: None,
    };
    Measurement {
        case: case.parse().unwrap(),
        metrics: vec![
            metric("ns_per_op", Unit::Nanoseconds, ns),
            metric("context_switches_per_s", Unit::PerSecond, 1000.0),
        ],
        trials: (0..6).map(|i| trial(first + 2 * i, ns + f64::from(i))).collect(),
    }
}

pub fn measure_run() -> Run {
    Run {
        measurements: vec![
            measurement("heap/heaptest/threads=2,max_size=2048@system", 14.0, 0),
            measurement("heap/heaptest/threads=2,max_size=2048@single_lock", 160.0, 1),
        ],
        unsupported: vec![Unsupported {
            case: "heap/heaptest/threads=2,max_size=2048@tcmalloc".into(),
            reason: "not installed".into(),
        }],
        warnings: vec![Warning::new("busy-machine", "others use the CPU; end them")],
        ..empty_run(RunKind::Measure)
    }
}

/// A block in which arm i takes the i-th value, in microseconds.
pub fn block(index: u32, values: &[f64]) -> Block {
    let entry = |(arm, value): (usize, &f64)| Entry {
        arm,
        position: values.len() - 1 - arm,
        end: End::Exited(0),
        values: vec![
            (CommandMetric::ToExit, *value),
            (CommandMetric::Cpu, *value / 2.0),
            (CommandMetric::User, *value / 2.0),
            (CommandMetric::System, 0.0),
            (CommandMetric::PeakRss, 1_048_576.0),
        ],
        peak_rss_is_upper_bound: arm == 1,
        strays: 0,
    };
    let entries = values.iter().enumerate().map(entry).collect();
    Block {
        index,
        seed: u64::from(index) << 40,
        stage: "measure".into(),
        entries,
    }
}

pub fn time_run() -> Run {
    let arm = |name: &str, command: &[&str], kind| SessionArm {
        name: name.into(),
        command: command.iter().map(|word| (*word).to_owned()).collect(),
        kind,
    };
    let blocks = (0..10).map(|i| {
        let base = 1000.0 + f64::from(i);
        block(i, &[base, base * 1.001, base * 0.8])
    });
    let comparison = |arm, ratio: f64, verdict| Comparison {
        metric: CommandMetric::ToExit,
        arm,
        ratio,
        low: ratio * 0.98,
        high: ratio * 1.02,
        verdict,
        blocks: 10,
        smallest_detectable: (verdict == Verdict::Undecided).then_some(0.02),
        sign_flip_p: Some(0.002),
        fixed_n: Some((ratio * 0.99, ratio * 1.01)),
    };
    Run {
        session: Some(Session {
            arms: vec![
                arm("before", &["./before"], ArmKind::Baseline),
                arm("before again", &["./before"], ArmKind::Again),
                arm("after", &["./after", "a b"], ArmKind::Candidate),
            ],
            blocks: blocks.collect(),
        }),
        comparisons: vec![
            comparison(2, 0.8, Verdict::Faster),
            comparison(1, 1.001, Verdict::Undecided),
        ],
        ..empty_run(RunKind::Time)
    }
}
