//! Runs of the shape that real ones have, with figures of the size that real ones show.

use record::format::image::{Document, File, SCHEMA};
use record::model::{
    ArmKind, BenchmarkInfo, Block, ClockFacts, CommandMetric, Comparison, End, Entry, Environment,
    Measurement, Metric, NoiseFloor, ParameterInfo, Point, Run, RunId, RunKind, RunStatus, RunSummary,
    Session, SessionArm, SubjectInfo, Support, Trial, TuneArm, TuneArmState, Tuning, Unit, Unsupported,
    Verdict, Warning,
};

pub fn empty(kind: RunKind) -> Run {
    let facts = [
        ("host", "box"),
        ("distribution", "Debian 12"),
        ("kernel", "6.1.0"),
        ("libc", "glibc 2.36"),
        ("cpu_model", "Xeon E5"),
        ("cpus", "2"),
        ("memory_bytes", "25769803776"),
        ("virtualised", "kvm"),
    ];
    Run {
        kind,
        started_unix: 1_700_000_000.0,
        arguments: vec!["underhood".into(), kind.name().into()],
        seed: 42,
        environment: Environment {
            facts: facts
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .to_vec(),
            clock: Some(ClockFacts {
                name: "tsc".into(),
                resolution_ns: 0.5,
                cost_ns: 12.4,
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

/// One case whose trials lie within 2 % of each other.
fn measurement(case: &str, ns: f64, switches: f64) -> Measurement {
    let case: record::model::Case = case.parse().unwrap();
    let threads: f64 = case.parameter("threads").unwrap().parse().unwrap();
    let metric = |name: &str, unit, estimate: f64| Metric {
        name: name.into(),
        unit,
        estimate,
        low: Some(estimate * 0.98),
        high: Some(estimate * 1.02),
        min: estimate * 0.97,
        trials: 6,
        predicted: None,
    };
    let point = |i: u32| Point {
        at_ns: f64::from(i) * 5e7,
        voluntary_per_s: if i == 0 {
            0.0
        } else {
            switches * (0.9 + 0.02 * f64::from(i % 11))
        },
        involuntary_per_s: 40.0,
        system_per_s: switches * 1.5 + 900.0,
    };
    let trials = (0..6).map(|position| Trial {
        position,
        seed: u64::from(position),
        samples: vec![ns; 20],
        values: vec![("ns_per_op".into(), ns)],
        course: (0..40).map(point).collect(),
        contaminated: (position == 2 && ns > 100.0)
            .then(|| "another process used the CPU for 8 % of the time".into()),
    });
    Measurement {
        metrics: vec![
            metric("ns_per_op", Unit::Nanoseconds, ns),
            metric("ops_per_s", Unit::PerSecond, threads * 1e9 / ns),
            metric("context_switches_per_s", Unit::PerSecond, switches + 40.0),
            metric("voluntary_switches_per_s", Unit::PerSecond, switches),
            metric("involuntary_switches_per_s", Unit::PerSecond, 40.0),
            metric("system_switches_per_s", Unit::PerSecond, switches * 1.5 + 900.0),
            metric("runqueue_wait_ratio", Unit::Ratio, 0.12),
            metric("minor_faults_per_s", Unit::PerSecond, 3.0),
            metric("peak_rss_bytes", Unit::Bytes, 3_500_000.0),
            metric("blow_up", Unit::Ratio, 1.21),
            metric("empty_loop_ns", Unit::Nanoseconds, 1.5),
        ],
        case,
        trials: trials.collect(),
    }
}

/// The first article's experiment.
pub fn heaptest() -> Run {
    let rows = [
        ("system", 14.2, 310.0),
        ("single_lock", 158.0, 61_200.0),
        ("single_lock_kernel", 640.0, 83_000.0),
        ("mimalloc", 13.1, 290.0),
        ("jemalloc", 14.3, 305.0),
    ];
    let case = |subject: &str| format!("heap/heaptest/threads=2,max_size=2048,count=1000000@{subject}");
    Run {
        measurements: rows
            .iter()
            .map(|(subject, ns, switches)| measurement(&case(subject), *ns, *switches))
            .collect(),
        unsupported: ["tcmalloc", "tbbmalloc"]
            .map(|subject| Unsupported {
                case: case(subject),
                reason: "no such library was found on this machine: apt install libtcmalloc-minimal4".into(),
            })
            .to_vec(),
        warnings: vec![Warning::new(
            "busy-machine",
            "other processes used 23 % of the CPU; end them, or expect wider intervals",
        )],
        ..empty(RunKind::Measure)
    }
}

/// Three heaps over five thread counts.
pub fn sweep() -> Run {
    let mut run = empty(RunKind::Measure);
    for threads in [1.0_f64, 2.0, 4.0, 8.0, 16.0] {
        for (subject, ns, switches) in [
            ("system", 14.0 + threads, 300.0),
            ("single_lock", 20.0 * threads * threads, 9000.0 * (threads - 1.0)),
            ("mimalloc", 13.0 + threads * 0.5, 280.0),
        ] {
            let case = format!("heap/heaptest/threads={threads},max_size=2048@{subject}");
            run.measurements.push(measurement(&case, ns, switches));
        }
    }
    run
}

fn entry(arm: usize, position: usize, us: f64, rss: f64, end: End) -> Entry {
    Entry {
        arm,
        position,
        end,
        values: vec![
            (CommandMetric::ToExit, us),
            (CommandMetric::Running, us * 0.97),
            (CommandMetric::Cpu, us * 0.95),
            (CommandMetric::User, us * 0.8),
            (CommandMetric::System, us * 0.15),
            (CommandMetric::PeakRss, rss),
            (CommandMetric::MinorFaults, 311.0),
            (CommandMetric::MajorFaults, 0.0),
            (CommandMetric::ContextSwitches, 7.0),
            (CommandMetric::Voluntary, 4.0),
            (CommandMetric::Involuntary, 3.0),
        ],
        peak_rss_is_upper_bound: rss < 400_000.0,
        strays: 0,
    }
}

fn arm(name: &str, kind: ArmKind) -> SessionArm {
    SessionArm {
        name: name.into(),
        command: vec![name.into()],
        kind,
    }
}

/// So many blocks in which each arm takes its time, give or take a little.
fn session(arms: Vec<SessionArm>, times: &[f64], blocks: u32) -> Session {
    let block = |index: u32| Block {
        index,
        seed: u64::from(index),
        stage: "measure".into(),
        entries: times
            .iter()
            .enumerate()
            .map(|(arm, us)| {
                let wobble = 1.0 + 0.002 * f64::from((index * 7 + u32::try_from(arm).unwrap() * 3) % 11);
                let rss = if arm == 0 { 327_680.0 } else { 5_242_880.0 };
                entry(arm, arm, us * wobble, rss, End::Exited(0))
            })
            .collect(),
    };
    Session {
        arms,
        blocks: (0..blocks).map(block).collect(),
    }
}

fn comparison(
    metric: CommandMetric,
    arm: usize,
    [ratio, low, high]: [f64; 3],
    verdict: Verdict,
) -> Comparison {
    Comparison {
        metric,
        arm,
        ratio,
        low,
        high,
        verdict,
        blocks: 24,
        smallest_detectable: (verdict == Verdict::Undecided).then_some(0.021),
        sign_flip_p: None,
        fixed_n: None,
    }
}

/// One command alone.
pub fn time_alone() -> Run {
    Run {
        session: Some(session(
            vec![arm("./program --fast", ArmKind::Baseline)],
            &[12_300.0],
            10,
        )),
        ..empty(RunKind::Time)
    }
}

/// One command timed to its entry point.
pub fn time_to_entry() -> Run {
    let entry = |position: usize, us: f64| Entry {
        arm: 0,
        position,
        end: End::Stopped,
        values: vec![
            (CommandMetric::ToEntry, us),
            (CommandMetric::PrivateDirty, 98_304.0),
            (CommandMetric::MinorFaults, 42.0),
            (CommandMetric::MajorFaults, 0.0),
        ],
        peak_rss_is_upper_bound: false,
        strays: 0,
    };
    let block = |index: u32| Block {
        index,
        seed: u64::from(index),
        stage: "measure".into(),
        entries: vec![entry(0, 664.1 + f64::from(index * 7 % 30))],
    };
    Run {
        session: Some(Session {
            arms: vec![arm("/bin/true", ArmKind::Baseline)],
            blocks: (0..30).map(block).collect(),
        }),
        ..empty(RunKind::Time)
    }
}

/// A clear gain with everything beside it, a run count fixed beforehand, and a failure.
pub fn time_faster() -> Run {
    let arms = vec![
        arm("./before", ArmKind::Baseline),
        arm("./before", ArmKind::Again),
        arm("./after", ArmKind::Candidate),
    ];
    let mut session = session(arms, &[246_000.0, 246_100.0, 200_000.0], 24);
    session.blocks[3].entries[2].end = End::Exited(1);
    let faster = Comparison {
        sign_flip_p: Some(0.000_06),
        fixed_n: Some((0.806, 0.818)),
        ..comparison(CommandMetric::ToExit, 2, [0.813, 0.787, 0.833], Verdict::Faster)
    };
    Run {
        session: Some(session),
        comparisons: vec![
            faster,
            comparison(
                CommandMetric::ToExit,
                1,
                [1.0004, 0.996, 1.004],
                Verdict::Equivalent,
            ),
            comparison(CommandMetric::Cpu, 2, [0.809, 0.79, 0.83], Verdict::Faster),
            comparison(CommandMetric::PeakRss, 2, [16.0, 16.0, 16.0], Verdict::Slower),
            comparison(
                CommandMetric::MinorFaults,
                2,
                [1.0, 1.0, 1.0],
                Verdict::Equivalent,
            ),
        ],
        ..empty(RunKind::Time)
    }
}

/// Two candidates, nothing proved, a restless machine, interrupted.
pub fn time_undecided() -> Run {
    let arms = vec![
        arm("sort big.txt", ArmKind::Baseline),
        arm("sort big.txt", ArmKind::Again),
        arm("sort --parallel=2 big.txt", ArmKind::Candidate),
        arm("sort -S 1G big.txt", ArmKind::Candidate),
    ];
    Run {
        session: Some(session(arms, &[900.0, 901.0, 903.0, 902.0], 24)),
        comparisons: vec![
            comparison(
                CommandMetric::ToExit,
                2,
                [1.008, 0.985, 1.034],
                Verdict::Undecided,
            ),
            comparison(
                CommandMetric::ToExit,
                3,
                [1.002, 0.995, 1.008],
                Verdict::Equivalent,
            ),
            comparison(CommandMetric::ToExit, 1, [1.03, 1.01, 1.06], Verdict::Slower),
            comparison(CommandMetric::Cpu, 2, [1.2, 1.1, 1.3], Verdict::Slower),
            comparison(CommandMetric::Cpu, 3, [1.0, 0.99, 1.01], Verdict::Undecided),
        ],
        status: RunStatus::Interrupted,
        warnings: vec![Warning::new(
            "loaded",
            "the load average was 5.2; wait until the machine is quiet",
        )],
        ..empty(RunKind::Time)
    }
}

fn tune_arm(remedy: &str, state: TuneArmState, reason: Option<&str>) -> TuneArm {
    TuneArm {
        remedy: remedy.into(),
        arm: None,
        state,
        reason: reason.map(str::to_owned),
        in_effect: None,
        output_identical: None,
        effect: None,
        also: Vec::new(),
        runs: 0,
    }
}

fn raced(
    remedy: &str,
    state: TuneArmState,
    ratios: [f64; 3],
    verdict: Verdict,
    memory: f64,
    runs: usize,
) -> TuneArm {
    let around = |ratio: f64| [ratio, ratio * 0.98, ratio * 1.02];
    TuneArm {
        arm: Some(1),
        in_effect: Some(true),
        output_identical: Some(true),
        effect: Some(comparison(CommandMetric::ToExit, 1, ratios, verdict)),
        also: vec![
            comparison(CommandMetric::Cpu, 1, around(ratios[0] * 0.9), verdict),
            comparison(CommandMetric::PeakRss, 1, around(memory), Verdict::Slower),
        ],
        runs,
        ..tune_arm(remedy, state, None)
    }
}

fn tuning(arms: Vec<TuneArm>, winner: Option<&str>, sentence: &str) -> Tuning {
    Tuning {
        command: vec!["./server".into(), "--once".into(), "a b".into()],
        goal: "wall".into(),
        noise_floor: Some(NoiseFloor {
            ratio: 1.001,
            low: 0.992,
            high: 1.009,
        }),
        arms,
        winner: winner.map(str::to_owned),
        confirmed: winner.map(|_| comparison(CommandMetric::ToExit, 1, [0.722, 0.7, 0.745], Verdict::Faster)),
        sentence: sentence.into(),
        session: session(
            vec![
                arm("baseline", ArmKind::Baseline),
                arm("heap=mimalloc", ArmKind::Candidate),
            ],
            &[700_000.0, 500_000.0],
            2,
        ),
        warnings: Vec::new(),
    }
}

/// A winner, and every other fate.
pub fn tune_winner() -> Run {
    use TuneArmState::{Dropped, Guarded, NotApplicable, Raced, Refused, Winner};
    let fat = TuneArm {
        reason: Some("peak memory grew by 212 %, more than the 25 % that --max-rss-growth allows".into()),
        ..raced(
            "heap=snmalloc",
            Guarded,
            [0.69, 0.66, 0.72],
            Verdict::Faster,
            3.12,
            24,
        )
    };
    let other = TuneArm {
        in_effect: Some(true),
        output_identical: Some(false),
        ..tune_arm("glibc.malloc.perturb=1", Refused, None)
    };
    let arms = vec![
        tune_arm(
            "glibc.malloc.hugetlb=1",
            NotApplicable,
            Some("transparent huge pages are off on this machine"),
        ),
        other,
        raced(
            "glibc.malloc.tcache_count=0",
            Dropped,
            [1.31, 1.2, 1.42],
            Verdict::Slower,
            1.0,
            8,
        ),
        raced(
            "heap=jemalloc",
            Raced,
            [0.78, 0.75, 0.81],
            Verdict::Faster,
            1.08,
            24,
        ),
        fat,
        raced(
            "heap=mimalloc",
            Winner,
            [0.71, 0.69, 0.73],
            Verdict::Faster,
            1.12,
            24,
        ),
        tune_arm(
            "glibc.malloc.hugetlb=2",
            NotApplicable,
            Some("transparent huge pages are off on this machine"),
        ),
        tune_arm(
            "python_malloc=malloc",
            NotApplicable,
            Some("the program is not Python"),
        ),
    ];
    Run {
        tuning: Some(tuning(
            arms,
            Some("heap=mimalloc"),
            "With heap=mimalloc ./server runs 1.39 × faster, with the same output and 12 % more memory.",
        )),
        ..empty(RunKind::Tune)
    }
}

/// Nothing helps.
pub fn tune_nothing() -> Run {
    let arms = vec![raced(
        "heap=mimalloc",
        TuneArmState::Raced,
        [1.0, 0.995, 1.005],
        Verdict::Equivalent,
        1.5,
        24,
    )];
    let sentence = "Nothing here helps ./server: no remedy was shown to make it faster by 1 % or more.";
    Run {
        tuning: Some(tuning(arms, None, sentence)),
        ..empty(RunKind::Tune)
    }
}

pub fn benchmarks() -> Vec<BenchmarkInfo> {
    let subject = |name: &str, support| SubjectInfo {
        name: name.into(),
        support,
    };
    let parameter = |name: &str, default: &str, unit: &str| ParameterInfo {
        name: name.into(),
        default: default.into(),
        unit: unit.into(),
        summary: String::new(),
    };
    let missing = || Support::No("no such library was found; apt install libtcmalloc-minimal4".into());
    let heap = |name: &str, summary: &str| BenchmarkInfo {
        name: format!("heap/{name}"),
        summary: summary.into(),
        parameters: vec![parameter("threads", "2", ""), parameter("max_size", "2k", "B")],
        subjects: vec![
            subject("system", Support::Yes),
            subject("single_lock", Support::Yes),
            subject("mimalloc", Support::Yes),
            subject("tcmalloc", missing()),
        ],
        support: Support::Yes,
    };
    let elsewhere = BenchmarkInfo {
        support: Support::No("keyed events are of Windows".into()),
        ..heap("keyed", "Two threads wake each other by a keyed event")
    };
    vec![
        heap(
            "heaptest",
            "Each thread allocates a block of random size and frees it at once",
        ),
        heap("cross_thread_free", "One thread allocates, another frees"),
        elsewhere,
    ]
}

pub fn stored() -> Vec<RunSummary> {
    let row = |id, kind, status, what: &str| RunSummary {
        id: RunId(id),
        started_unix: 1_700_000_000.0 + 3600.0 * id as f64,
        kind,
        status,
        what: what.into(),
        host: "box".into(),
    };
    vec![
        row(12, RunKind::Tune, RunStatus::Open, "./server --once 'a b'"),
        row(11, RunKind::Time, RunStatus::Failed, "./before, ./after"),
        row(
            7,
            RunKind::Measure,
            RunStatus::Complete,
            "heap/heaptest, heap/cross_thread_free, heap/resident, heap/burst",
        ),
    ]
}

/// Fourteen libraries, more than are listed.
pub fn generated() -> Document {
    let file = |name: &str, imports, relative, base: &str| File {
        file: name.to_owned(),
        imports,
        imports_by_ordinal: imports,
        other_imports: imports / 100,
        relative_relocations: relative,
        symbol_references: 0,
        base: base.to_owned(),
    };
    Document {
        schema: SCHEMA.to_owned(),
        libraries: 14,
        functions: 100,
        globals: 5,
        program: file("app.exe", 1400, 0, "0x140000000"),
        files: (1..=14)
            .map(|index| file(&format!("lib{index}.dll"), 0, 500, "0x180000000"))
            .collect(),
        commands: vec![vec!["cc".to_owned(), "app.c".to_owned()]],
    }
}
