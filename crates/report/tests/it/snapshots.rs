//! Every kind of report in every form.

use std::fs;
use std::path::Path;

use underhood_report::document::{Item, Report};
use underhood_report::render::{csv, markdown, terminal};
use underhood_report::{image, inspect, list, measure, of, runs};

use crate::samples;

fn compare(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/expected")
        .join(name);
    if std::env::var_os("UNDERHOOD_REGENERATE").is_some() {
        fs::write(&path, text).unwrap();
    }
    let expected = fs::read_to_string(&path)
        .unwrap_or_default()
        .replace("\r\n", "\n");
    assert!(
        text.replace("\r\n", "\n") == expected,
        "{name} differs; see the head of tests/it/main.rs\n{text}"
    );
}

fn plain(report: &Report, width: usize, unicode: bool) -> String {
    let text = terminal::render(report, terminal::Terminal { width, unicode });
    anstream::adapter::strip_str(&text).to_string()
}

/// The report in a narrow and in a wide terminal, with no line wider than either.
pub(crate) fn both(name: &str, report: &Report) {
    for width in [80, 120] {
        let text = plain(report, width, true);
        for line in text.lines().filter(|line| !line.starts_with("    underhood")) {
            let columns = unicode_width::UnicodeWidthStr::width(line);
            assert!(columns <= width, "{columns} columns instead of {width}: {line}");
        }
        compare(&format!("{name}.{width}.txt"), &text);
    }
}

#[test]
fn measure_of_one_point() {
    both("heaptest", &of(&samples::heaptest(), false));
}

#[test]
fn measure_of_a_sweep() {
    both("sweep", &of(&samples::sweep(), false));
}

#[test]
fn time_of_one_command() {
    both("time_alone", &of(&samples::time_alone(), false));
}

#[test]
fn time_to_the_entry_point() {
    both("time_to_entry", &of(&samples::time_to_entry(), false));
}

#[test]
fn time_that_is_decided() {
    both("time_faster", &of(&samples::time_faster(), false));
}

#[test]
fn time_that_is_not() {
    both("time_undecided", &of(&samples::time_undecided(), false));
}

#[test]
fn tune_with_a_winner() {
    both("tune_winner", &of(&samples::tune_winner(), false));
}

#[test]
fn tune_without() {
    both("tune_nothing", &of(&samples::tune_nothing(), false));
}

#[test]
fn lists() {
    both("list", &list::report(&samples::benchmarks()));
    both("runs", &runs::report(&samples::stored()));
    both("generated", &image::generated("/tmp/set", &samples::generated()));
}

#[test]
fn details_show_everything() {
    compare(
        "heaptest.details.txt",
        &plain(&of(&samples::heaptest(), true), 240, true),
    );
    compare(
        "time_faster.details.txt",
        &plain(&of(&samples::time_faster(), true), 240, true),
    );
    compare(
        "tune_winner.details.txt",
        &plain(&of(&samples::tune_winner(), true), 160, true),
    );
}

#[test]
fn a_terminal_without_unicode() {
    let text =
        plain(&of(&samples::sweep(), false), 80, false) + &plain(&of(&samples::heaptest(), false), 80, false);
    assert!(text.is_ascii());
    compare("ascii.80.txt", &text);
}

#[test]
fn markdown_and_csv() {
    for (name, run) in [
        ("heaptest", samples::heaptest()),
        ("tune_winner", samples::tune_winner()),
    ] {
        let report = of(&run, false);
        compare(&format!("{name}.md"), &markdown::render(&report));
        compare(&format!("{name}.csv"), &csv::render(&report));
    }
}

#[test]
fn styles_are_written_and_can_be_stripped() {
    let report = of(&samples::heaptest(), false);
    let text = terminal::render(
        &report,
        terminal::Terminal {
            width: 80,
            unicode: true,
        },
    );
    assert!(text.contains("\u{1b}[1m"), "the title is bold");
    assert!(text.contains("\u{1b}[32m"), "good news are green");
}

#[test]
fn findings_claim_only_what_the_intervals_allow() {
    let mut run = samples::heaptest();
    let text = measure::findings(&run).join("\n");
    assert!(
        text.contains("a heap behind one kernel object (single_lock_kernel) costs 48.9 ×"),
        "{text}"
    );
    assert!(
        text.contains("mimalloc is 1.084 × (1.041 … 1.128) faster than system"),
        "{text}"
    );
    assert!(
        text.contains("more than 80.0 k/s means that threads fight for a lock"),
        "{text}"
    );

    // The same estimates with intervals that overlap, then with none.
    for metric in run.measurements.iter_mut().map(|m| &mut m.metrics[0]) {
        metric.low = Some(metric.estimate * 0.5);
        metric.high = Some(metric.estimate * 2.0);
    }
    let text = measure::findings(&run).join("\n");
    assert!(
        text.contains("but the intervals overlap: no difference is shown"),
        "{text}"
    );
    for metric in run.measurements.iter_mut().map(|m| &mut m.metrics[0]) {
        (metric.low, metric.high) = (None, None);
    }
    let text = measure::findings(&run).join("\n");
    assert!(text.contains("too few trials to be sure"), "{text}");
}

#[test]
fn the_two_figures_of_the_first_article_are_drawn() {
    let report = of(&samples::heaptest(), false);
    let charts: Vec<_> = report
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Chart(chart) => Some(chart),
            _ => None,
        })
        .collect();
    assert_eq!(charts.len(), 1);
    let names: Vec<&str> = charts[0].series.iter().map(|line| line.name.as_str()).collect();
    assert_eq!(names, ["before: single_lock_kernel", "after: mimalloc"]);
    assert_eq!(
        charts[0].series[0].points.len(),
        39,
        "the first point of 40 has no rate"
    );
}

/// The documents are those that crates/record keeps.
#[test]
fn inspections_of_pe_files() {
    for (name, text) in [
        (
            "inspect_pe",
            include_str!("../../../record/tests/golden/inspect_pe.json"),
        ),
        (
            "inspect_pe_closure",
            include_str!("../../../record/tests/golden/inspect_pe_closure.json"),
        ),
        (
            "inspect_pe_heap",
            include_str!("../../../record/tests/golden/inspect_pe_heap.json"),
        ),
    ] {
        let document = serde_json::from_str(text).unwrap();
        both(name, &inspect::pe::report(&document));
    }
}
