//! Random runs for tests (feature `arbitrary`): every field takes every kind of value, odd ones included.
//!
//! Every strategy is boxed: their values are large and would fill a test thread's stack.
//! Runs are consistent ([`Run::check`] holds) and hold no NaN, so that they equal themselves.

use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;

use crate::model::{
    ArmKind, Block, Case, ClockFacts, CommandMetric, Comparison, End, Entry, Environment, Measurement,
    Metric, NoiseFloor, Point, Run, RunKind, RunStatus, Session, SessionArm, Trial, TuneArm, TuneArmState,
    Tuning, Unit, Unsupported, Verdict, Warning,
};

/// Texts: empty, ordinary, with every kind of character.
fn text() -> BoxedStrategy<String> {
    prop_oneof![Just(String::new()), "[a-z_=]{1,12}", any::<String>()].boxed()
}

/// Names of the kind that the vocabulary uses.
fn name() -> BoxedStrategy<String> {
    prop_oneof![
        "[a-z][a-z_]{0,11}",
        select(vec!["ns_per_op", "ops_per_s", "system", "threads"]).prop_map(String::from)
    ]
    .boxed()
}

/// Figures: ordinary, huge, tiny, negative, infinite; never NaN.
fn figure() -> BoxedStrategy<f64> {
    prop_oneof![
        4 => 0.0..1e6,
        1 => any::<f64>().prop_filter("NaN is not equal to itself", |x| !x.is_nan()),
        1 => select(vec![0.0, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN_POSITIVE]),
    ]
    .boxed()
}

fn small(most: usize) -> std::ops::RangeInclusive<usize> {
    0..=most
}

fn case() -> BoxedStrategy<Case> {
    (name(), name(), vec((name(), text()), small(3)), text())
        .prop_map(|(suite, benchmark, parameters, subject)| Case {
            suite,
            benchmark,
            parameters,
            subject,
        })
        .boxed()
}

fn trial() -> BoxedStrategy<Trial> {
    let point = (figure(), figure(), figure(), figure()).prop_map(
        |(at_ns, voluntary_per_s, involuntary_per_s, system_per_s)| Point {
            at_ns,
            voluntary_per_s,
            involuntary_per_s,
            system_per_s,
        },
    );
    let values = vec((name(), figure()), small(3));
    (
        any::<u32>(),
        any::<u64>(),
        vec(figure(), small(20)),
        values,
        vec(point, small(4)),
        of(text()),
    )
        .prop_map(|(position, seed, samples, values, course, contaminated)| Trial {
            position,
            seed,
            samples,
            values,
            course,
            contaminated,
        })
        .boxed()
}

fn metric() -> BoxedStrategy<Metric> {
    let units = vec![
        Unit::Nanoseconds,
        Unit::Microseconds,
        Unit::PerSecond,
        Unit::Bytes,
        Unit::Count,
        Unit::Ratio,
    ];
    (
        name(),
        select(units),
        figure(),
        of(figure()),
        of(figure()),
        figure(),
        small(1000),
        of(figure()),
    )
        .prop_map(
            |(name, unit, estimate, low, high, min, trials, predicted)| Metric {
                name,
                unit,
                estimate,
                low,
                high,
                min,
                trials,
                predicted,
            },
        )
        .boxed()
}

fn measurement() -> BoxedStrategy<Measurement> {
    (case(), vec(metric(), small(3)), vec(trial(), small(3)))
        .prop_map(|(case, metrics, trials)| Measurement {
            case,
            metrics,
            trials,
        })
        .boxed()
}

fn entry(arms: usize) -> BoxedStrategy<Entry> {
    let end = prop_oneof![
        Just(End::Exited(0)),
        any::<i64>().prop_map(End::Exited),
        any::<i32>().prop_map(End::Signaled),
        Just(End::TimedOut),
        Just(End::Stopped)
    ];
    let values = vec((select(CommandMetric::ALL.to_vec()), figure()), small(4));
    (0..arms, small(9), end, values, any::<bool>(), any::<u32>())
        .prop_map(
            |(arm, position, end, values, peak_rss_is_upper_bound, strays)| Entry {
                arm,
                position,
                end,
                values,
                peak_rss_is_upper_bound,
                strays,
            },
        )
        .boxed()
}

/// A session of one to four arms.
pub fn session() -> BoxedStrategy<Session> {
    let kind = select(vec![ArmKind::Baseline, ArmKind::Again, ArmKind::Candidate]);
    let arm = (text(), vec(text(), small(3)), kind).prop_map(|(name, command, kind)| SessionArm {
        name,
        command,
        kind,
    });
    vec(arm, 1..5)
        .prop_flat_map(|arms| {
            let block = (
                any::<u32>(),
                any::<u64>(),
                name(),
                vec(entry(arms.len()), small(4)),
            )
                .prop_map(|(index, seed, stage, entries)| Block {
                    index,
                    seed,
                    stage,
                    entries,
                });
            vec(block, small(5)).prop_map(move |blocks| Session {
                arms: arms.clone(),
                blocks,
            })
        })
        .boxed()
}

/// A comparison that names one of so many arms.
fn comparison(arms: usize) -> BoxedStrategy<Comparison> {
    let verdicts = vec![
        Verdict::Faster,
        Verdict::Slower,
        Verdict::Equivalent,
        Verdict::Undecided,
    ];
    let optional = (of(figure()), of(figure()), of((figure(), figure())));
    (
        select(CommandMetric::ALL.to_vec()),
        0..arms,
        [figure(), figure(), figure()],
        select(verdicts),
        small(99),
        optional,
    )
        .prop_map(
            |(metric, arm, [ratio, low, high], verdict, blocks, optional)| Comparison {
                metric,
                arm,
                ratio,
                low,
                high,
                verdict,
                blocks,
                smallest_detectable: optional.0,
                sign_flip_p: optional.1,
                fixed_n: optional.2,
            },
        )
        .boxed()
}

fn warnings() -> BoxedStrategy<Vec<Warning>> {
    vec(
        (text(), text()).prop_map(|(code, advice)| Warning { code, advice }),
        small(2),
    )
    .boxed()
}

fn tune_arm(arms: usize) -> BoxedStrategy<TuneArm> {
    let proof = (of(any::<bool>()), of(any::<bool>()));
    let effects = (of(comparison(arms)), vec(comparison(arms), small(3)));
    (
        text(),
        of(0..arms),
        select(TuneArmState::ALL.to_vec()),
        of(text()),
        proof,
        effects,
        small(99),
    )
        .prop_map(
            |(remedy, arm, state, reason, proof, (effect, also), runs)| TuneArm {
                remedy,
                arm,
                state,
                reason,
                in_effect: proof.0,
                output_identical: proof.1,
                effect,
                also,
                runs,
            },
        )
        .boxed()
}

fn tuning() -> BoxedStrategy<Tuning> {
    session()
        .prop_flat_map(|session| {
            let arms = session.arms.len();
            let floor =
                (figure(), figure(), figure()).prop_map(|(ratio, low, high)| NoiseFloor { ratio, low, high });
            let head = (
                vec(text(), small(3)),
                select(vec!["wall", "cpu", "rss"]),
                of(floor),
            );
            (
                head,
                vec(tune_arm(arms), small(5)),
                of(text()),
                of(comparison(arms)),
                text(),
                warnings(),
            )
                .prop_map(
                    move |((command, goal, noise_floor), arms, winner, confirmed, sentence, warnings)| {
                        Tuning {
                            command,
                            goal: goal.to_owned(),
                            noise_floor,
                            arms,
                            winner,
                            confirmed,
                            sentence,
                            session: session.clone(),
                            warnings,
                        }
                    },
                )
        })
        .boxed()
}

fn environment() -> BoxedStrategy<Environment> {
    let clock =
        (text(), figure(), figure(), text()).prop_map(|(name, resolution_ns, cost_ns, reason)| ClockFacts {
            name,
            resolution_ns,
            cost_ns,
            reason,
        });
    (vec((name(), text()), small(4)), of(clock))
        .prop_map(|(facts, clock)| Environment { facts, clock })
        .boxed()
}

/// A run of any kind, with parts of every kind.
pub fn run() -> BoxedStrategy<Run> {
    let head = (
        select(vec![RunKind::Measure, RunKind::Time, RunKind::Tune]),
        figure(),
        vec(text(), small(4)),
        any::<u64>(),
        environment(),
        select(vec![
            RunStatus::Open,
            RunStatus::Complete,
            RunStatus::Interrupted,
            RunStatus::Failed,
        ]),
    );
    let unsupported = (text(), text()).prop_map(|(case, reason)| Unsupported { case, reason });
    let timed = of(session()).prop_flat_map(|session| {
        let arms = session.as_ref().map_or(0, |s| s.arms.len());
        let comparisons = if arms == 0 {
            Just(Vec::new()).boxed()
        } else {
            vec(comparison(arms), small(3)).boxed()
        };
        (Just(session), comparisons)
    });
    let body = (
        vec(measurement(), small(3)),
        vec(unsupported, small(2)),
        timed,
        of(tuning()),
        warnings(),
    );
    (head, body)
        .prop_map(
            |(head, (measurements, unsupported, (session, comparisons), tuning, warnings))| Run {
                kind: head.0,
                started_unix: head.1,
                arguments: head.2,
                seed: head.3,
                environment: head.4,
                status: head.5,
                measurements,
                unsupported,
                session,
                comparisons,
                tuning,
                warnings,
            },
        )
        .boxed()
}
