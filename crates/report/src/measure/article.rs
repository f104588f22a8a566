//! The table of the article on load time: as linked, based, based and bound, by name and by ordinal, with the published figures beside.

use record::model::{Measurement, Metric, Run};

use crate::document::{Column, Item, Report, Row, Table, Tone};
use crate::parts;
use crate::quantity::{self, Quantity};

/// The article's figures, fastest of 30, in timer ticks: by name and by ordinal, each as linked, based, bound.
const PUBLISHED: [(&str, [[f64; 3]; 2]); 3] = [
    (
        "Windows 2000, FAT16",
        [[58_286.0, 52_611.0, 49_006.0], [57_824.0, 50_609.0, 49_251.0]],
    ),
    (
        "Windows 2000, compressed NTFS",
        [[61_087.0, 53_834.0, 50_388.0], [58_607.0, 51_755.0, 50_204.0]],
    ),
    (
        "Windows 98 SE, FAT16",
        [[32_738.0, 30_150.0, 28_944.0], [31_812.0, 29_569.0, 29_513.0]],
    ),
];

const SUBJECTS: [&str; 3] = ["default", "based", "bound"];
const IMPORTS: [&str; 2] = ["name", "ordinal"];

/// The six measurements of one place, or `None` where one is missing.
type Cells<'a> = [[&'a Measurement; 3]; 2];

/// The article's table from a run that has all of its cases, for each folder that the files were in.
#[must_use]
pub fn report(run: &Run) -> Report {
    let mut report =
        Report::new("Loading 10 libraries with 1,000 imported functions, as in the article of 2000");
    parts::status(&mut report, run);
    let places = places(run);
    if places.is_empty() {
        report.sentence(Tone::Bad, "A cell of the table could not be measured; see below.");
    }
    for (place, cells) in &places {
        report.items.push(Item::Table(times(place, cells)));
    }
    if !places.is_empty() {
        report.items.push(Item::Table(effects(&places)));
    }
    parts::warnings(&mut report, &run.warnings);
    for row in &run.unsupported {
        report.note(format!("{}: {}", row.case, row.reason));
    }
    report.note(
        "Here: the reference loader, in memory, fastest and median of all trials (fresh processes), with 95 % intervals of the medians. \
         It does what the loader of Windows 2000 did and nothing else; the published times also hold the making of a process and the reading of files, \
         so the effects are smaller there.",
    );
    parts::environment(&mut report, run);
    report
}

/// The places in the order of their first case.
fn places(run: &Run) -> Vec<(String, Cells<'_>)> {
    let of_pe = || {
        run.measurements
            .iter()
            .filter(|m| m.case.suite == "load" && m.case.benchmark == "pe")
    };
    let folder = |m: &Measurement| m.case.parameter("folder").unwrap_or_default().to_owned();
    let mut names: Vec<String> = Vec::new();
    for measurement in of_pe() {
        let name = folder(measurement);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
        .into_iter()
        .filter_map(|name| {
            let cell = |import: &str, subject: &str| {
                of_pe().find(|m| {
                    folder(m) == name
                        && m.case.subject == subject
                        && m.case.parameter("import") == Some(import)
                })
            };
            let row = |import| -> Option<[&Measurement; 3]> {
                let [a, b, c] = SUBJECTS.map(|subject| cell(import, subject));
                Some([a?, b?, c?])
            };
            let [by_name, by_ordinal] = IMPORTS.map(row);
            Some((name, [by_name?, by_ordinal?]))
        })
        .collect()
}

fn times(place: &str, cells: &Cells<'_>) -> Table {
    let titles = ["as linked", "based", "based and bound"];
    let row = |import: &str, subject: usize, measurement: &Measurement| {
        let metric = |name: &str| measurement.metric(name);
        let text = |name: &str, of: fn(&Metric) -> f64| {
            metric(name).map_or_else(String::new, |metric| quantity::text(of(metric), metric.unit))
        };
        let median = metric("load_us").map(|metric| Quantity {
            value: metric.estimate,
            interval: metric.low.zip(metric.high),
            unit: metric.unit,
            upper_bound: false,
        });
        let estimate = |metric: &Metric| metric.estimate;
        Row {
            tone: Tone::Plain,
            cells: vec![
                format!("by {import}").into(),
                titles[subject].into(),
                text("load_us", |metric| metric.min).into(),
                median.into(),
                text("read_us", estimate).into(),
                text("moved", estimate).into(),
                text("fixups", estimate).into(),
                text("names", estimate).into(),
                text("comparisons", estimate).into(),
                text("dirtied_pages", estimate).into(),
            ],
        }
    };
    Table {
        caption: match place {
            "" => String::new(),
            number => format!("Folder {number}"),
        },
        columns: vec![
            Column::always("imports"),
            Column::always("files"),
            Column::always("fastest"),
            Column::always("load"),
            Column::ranked(3, "reading"),
            Column::ranked(1, "moved"),
            Column::ranked(1, "fixups"),
            Column::ranked(1, "names"),
            Column::ranked(2, "comparisons"),
            Column::ranked(2, "dirty pages"),
        ],
        rows: IMPORTS
            .iter()
            .zip(cells)
            .flat_map(|(import, row_of)| {
                row_of
                    .iter()
                    .enumerate()
                    .map(move |(subject, measurement)| row(import, subject, measurement))
            })
            .collect(),
    }
}

/// The percentages that the article draws from its figures, here and there.
fn effects(places: &[(String, Cells<'_>)]) -> Table {
    let change = |new: f64, old: f64| format!("{:+.1} %", 100.0 * (new / old - 1.0));
    let row = |title: String, grid: [[f64; 3]; 2]| Row {
        tone: Tone::Plain,
        cells: vec![
            title.into(),
            change(grid[0][1], grid[0][0]).into(),
            change(grid[0][2], grid[0][0]).into(),
            change(grid[1][0], grid[0][0]).into(),
            change(grid[1][2], grid[0][2]).into(),
        ],
    };
    let here = places.iter().flat_map(|(place, cells)| {
        let of = |reading: bool| {
            cells.map(|row| {
                row.map(|measurement| {
                    let fastest = |name: &str| measurement.metric(name).map_or(f64::NAN, |metric| metric.min);
                    fastest("load_us") + if reading { fastest("read_us") } else { 0.0 }
                })
            })
        };
        let place = match place.as_str() {
            "" => "here".to_owned(),
            number => format!("folder {number}"),
        };
        [
            row(format!("{place}, loading"), of(false)),
            row(format!("{place}, reading and loading"), of(true)),
        ]
    });
    Table {
        caption: "What it changes, fastest against fastest".to_owned(),
        columns: vec![
            Column::always(""),
            Column::always("based"),
            Column::always("based and bound"),
            Column::always("by ordinal, as linked"),
            Column::always("by ordinal, bound"),
        ],
        rows: here
            .chain(
                PUBLISHED
                    .iter()
                    .map(|(title, grid)| row(format!("published: {title}"), *grid)),
            )
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_articles_own_percentages_come_out() {
        let table = effects(&[]);
        let cells: Vec<String> = table.rows[0]
            .cells
            .iter()
            .map(|cell| format!("{cell:?}"))
            .collect();
        for (cell, text) in cells.iter().skip(1).zip(["-9.7 %", "-15.9 %", "-0.8 %"]) {
            assert!(cell.contains(text), "{cell}");
        }
    }
}
