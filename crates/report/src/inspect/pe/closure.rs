//! What the reference loader did with a file and its libraries.

use record::format::Number;
use record::format::inspect::pe::{Closure, Module};
use record::model::Unit;

use crate::document::{Cell, Column, Item, Report, Row, Table, Tone};
use crate::quantity;

/// How many files are listed one by one.
const LISTED: usize = 60;

/// Adds the closure to a report.
pub(super) fn of(report: &mut Report, closure: &Closure) {
    let counts = &closure.counts;
    let microseconds = |value: Number| quantity::text(value.0, Unit::Microseconds);
    for difference in closure.differences.iter().take(LISTED) {
        report.sentence(
            Tone::Bad,
            format!("The reference loader and the reader disagree, so one of them is wrong: {difference}"),
        );
    }
    let number = |count: u64| quantity::text(count as f64, Unit::Count);
    report.sentence(
        Tone::Plain,
        format!(
            "The reference loader maps {} files and moves {} of them with {} fixups, looks up {} names with {} comparisons ({} at once, where the hint points) and {} ordinals, and dirties {} pages.",
            number(counts.modules),
            number(counts.moved),
            number(counts.fixups),
            number(counts.names),
            number(counts.comparisons),
            number(counts.hint_hits),
            number(counts.ordinals),
            number(counts.dirtied_pages),
        ),
    );
    if counts.bound + counts.stale > 0 {
        report.sentence(
            if counts.stale > 0 { Tone::Bad } else { Tone::Good },
            format!(
                "Of the bound imports it finds {} right as they stand and {} that do not hold any more.",
                number(counts.bound),
                number(counts.stale),
            ),
        );
    }
    match &closure.remedy {
        Some(remedy) => report.sentence(
            Tone::Good,
            format!(
                "{} That takes {} of {} here.",
                remedy.sentence,
                microseconds(remedy.saves_us),
                microseconds(closure.fastest.total_us)
            ),
        ),
        None => report.sentence(
            Tone::Good,
            "There is nothing here that rebasing or binding would remove.",
        ),
    }
    report.items.push(Item::Table(modules(&closure.modules)));
    if closure.modules.len() > LISTED {
        let more = closure.modules.len() - LISTED;
        report.note(format!("{more} more files stand in the document (--json)."));
    }
    let phase = |name: &str, value: Number| Row {
        tone: Tone::Plain,
        cells: vec![name.into(), microseconds(value).into()],
    };
    let fastest = &closure.fastest;
    report.items.push(Item::Table(Table {
        caption: format!("the fastest of {} loads", closure.loads),
        columns: vec![Column::always("phase"), Column::always("time")],
        rows: vec![
            phase("map", fastest.map_us),
            phase("fixups", fastest.fixups_us),
            phase("imports", fastest.imports_us),
            phase("all", fastest.total_us),
        ],
    }));
    if !closure.outside.is_empty() {
        report.note(format!(
            "Not beside the file, and so taken for libraries of the system, with made-up addresses: {}.",
            closure.outside.join(", ")
        ));
    }
    let dynamic = closure
        .modules
        .iter()
        .filter(|module| module.dynamic_base)
        .count();
    if dynamic > 0 {
        report.note(format!(
            "{dynamic} of the files have DYNAMIC_BASE: today's Windows chooses their addresses itself, so rebasing and binding help there only when that flag is cleared. The reference loader ignores it.",
        ));
    }
    report.note(
        "The reference loader does in memory what the loader of Windows NT did, without disk and page faults; its times are for comparing, and are not those of Windows.",
    );
}

fn modules(modules: &[Module]) -> Table {
    let row = |module: &Module| Row {
        tone: if module.moved { Tone::Bad } else { Tone::Plain },
        cells: vec![
            module.file.as_str().into(),
            module.preferred.as_str().into(),
            if module.moved {
                module.base.as_str().into()
            } else {
                Cell::Empty
            },
            module.collides_with.clone().into(),
            module.fixups.to_string().into(),
            module.dirtied_pages.to_string().into(),
        ],
    };
    Table {
        caption: "in load order".to_owned(),
        columns: vec![
            Column::always("file"),
            Column::always("preferred base"),
            Column::always("moved to"),
            Column::ranked(1, "because of"),
            Column::always("fixups"),
            Column::ranked(1, "dirtied pages"),
        ],
        rows: modules.iter().take(LISTED).map(row).collect(),
    }
}
