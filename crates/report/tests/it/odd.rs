//! Values that no run should hold, and text that no one should print.

use proptest::prelude::*;
use record::arbitrary;
use record::model::{ArmKind, RunKind, Session, SessionArm};
use underhood_report::document::Report;
use underhood_report::render::{csv, markdown, terminal};
use underhood_report::{list, of, runs};

use crate::samples;

fn everything(report: &Report) -> [String; 4] {
    let terminal = |width, unicode| terminal::render(report, terminal::Terminal { width, unicode });
    [
        terminal(80, true),
        terminal(1, false),
        markdown::render(report),
        csv::render(report),
    ]
}

#[test]
fn empty_runs() {
    for kind in [RunKind::Measure, RunKind::Time, RunKind::Tune] {
        let report = of(&samples::empty(kind), false);
        assert!(report.title.starts_with("Nothing was"), "{}", report.title);
        everything(&report);
    }
    everything(&list::report(&[]));
    everything(&runs::report(&[]));
    everything(&Report::default());
}

#[test]
fn text_from_outside_cannot_steer_the_terminal() {
    let mut run = samples::empty(RunKind::Time);
    let name = "evil\u{1b}]0;title\u{7}\n\u{9b}2Jname | `x` \u{e000}";
    run.session = Some(Session {
        arms: vec![SessionArm {
            name: name.into(),
            command: vec![name.into()],
            kind: ArmKind::Baseline,
        }],
        blocks: samples::time_alone().session.unwrap().blocks,
    });
    let report = of(&run, false);
    let [text, ..] = everything(&report);
    let plain = anstream::adapter::strip_str(&text).to_string();
    assert!(plain.contains("evil ]0;title 2Jname | `x` takes"), "{plain}");
    assert!(!plain.contains(|letter: char| letter.is_control() && letter != '\n'));
    let [.., markdown, csv] = everything(&report);
    assert!(markdown.contains(r"2Jname \| \`x\`"), "{markdown}");
    assert!(csv.contains("\"evil\u{1b}]0;title\u{7}\n"), "{csv}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, max_shrink_iters: 300, ..ProptestConfig::default() })]

    #[test]
    fn no_run_is_too_odd_to_report(run in arbitrary::run(), width in 0_usize..300, details: bool) {
        for kind in [RunKind::Measure, RunKind::Time, RunKind::Tune] {
            let report = of(&record::model::Run { kind, ..run.clone() }, details);
            everything(&report);
            let text = terminal::render(&report, terminal::Terminal { width, unicode: false });
            prop_assert!(text.is_ascii());
        }
    }

    #[test]
    fn not_a_number_everywhere(mut run in arbitrary::run()) {
        for measurement in &mut run.measurements {
            measurement.metrics.iter_mut().for_each(|m| (m.estimate, m.low, m.min) = (f64::NAN, Some(f64::NAN), f64::NAN));
            let points = measurement.trials.iter_mut().flat_map(|trial| &mut trial.course);
            points.for_each(|point| point.voluntary_per_s = f64::NAN);
        }
        run.comparisons.iter_mut().for_each(|c| (c.ratio, c.low, c.high) = (f64::NAN, f64::NAN, f64::NAN));
        let entries = run.session.iter_mut().flat_map(|s| &mut s.blocks).flat_map(|b| &mut b.entries);
        entries.flat_map(|entry| &mut entry.values).for_each(|(_, value)| *value = f64::NAN);
        run.started_unix = f64::NAN;
        everything(&of(&run, true));
    }
}
