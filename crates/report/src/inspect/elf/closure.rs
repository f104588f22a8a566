//! What the loader does for a program and its libraries: where each is found, what it asks for, and where the time goes.

use record::format::inspect::elf::{
    Closure, Ending, Estimate, Lookups, Object, Outcome, Reason, Role, Search,
};
use record::model::Unit;

use super::count;
use crate::document::{Cell, Column, Item, Report, Row, Table, Tone};
use crate::quantity::{self, Quantity};

/// How many misses are listed one by one.
const LISTED: usize = 12;

pub(super) fn of(report: &mut Report, closure: &Closure) {
    missing(report, closure);
    surroundings(report, closure);
    if let Some(program) = closure.objects.first().filter(|_| closure.objects.len() == 1) {
        return static_program(report, program);
    }
    let work = &closure.work;
    let depth = work.eager.libraries as f64 / work.eager.lookups.max(1) as f64;
    report.sentence(
        Tone::Plain,
        format!(
            "The loader maps {}, after {} in vain. At start it writes {} relative relocations and looks {} symbols up, each in \
             {depth:.1} files on average; {} more wait for their first call.",
            count(work.libraries, "library", "libraries"),
            count(work.misses, "look", "looks"),
            quantity::whole(work.relative),
            quantity::whole(work.eager.lookups),
            quantity::whole(work.lazy.lookups),
        ),
    );
    report.items.push(Item::Table(objects(closure)));
    misses(report, closure);
    if let Some(estimate) = &closure.estimate_us {
        phases(report, closure, estimate);
    } else {
        report.note("What the steps cost cannot be measured on this system, so no time is estimated.");
    }
    for note in &closure.notes {
        report.note(note.clone());
    }
}

/// A program for which no loader runs.
fn static_program(report: &mut Report, program: &Object) {
    let relocations = &program.file.relocations;
    let relative = relocations.relative + relocations.packed;
    report.sentence(
        Tone::Plain,
        "It has no libraries and no loader: nothing is searched, mapped or looked up at its start.",
    );
    if relative > 0 {
        report.sentence(
            Tone::Plain,
            format!(
                "It relocates itself, after its entry point: {} on {}.",
                count(relative, "relative relocation", "relative relocations"),
                count(relocations.pages, "page", "pages"),
            ),
        );
    }
}

fn missing(report: &mut Report, closure: &Closure) {
    for search in &closure.searches {
        let by = closure
            .objects
            .get(search.needed_by)
            .map_or("", |object| object.path.as_str());
        match search.ending {
            Ending::Missing => report.sentence(
                Tone::Bad,
                format!(
                    "{} is not found, which {by} needs: it does not start.",
                    search.name
                ),
            ),
            Ending::Refused => report.sentence(
                Tone::Bad,
                format!(
                    "{} cannot be loaded, which {by} needs ({}): it does not start.",
                    search.name,
                    search.refused.as_deref().unwrap_or_default()
                ),
            ),
            Ending::Loaded | Ending::Known | Ending::SameFile => {}
        }
    }
    for refusal in &closure.refusals {
        report.sentence(Tone::Bad, format!("{refusal}: it does not start."));
    }
    let of = |part: fn(&Lookups) -> u64| part(&closure.work.eager) + part(&closure.work.lazy);
    let missing = of(|lookups| lookups.missing);
    if missing > 0 {
        report.sentence(
            Tone::Bad,
            format!(
                "{} defined by nothing that is loaded: an error at start, or at the first call of a function.",
                count(missing, "symbol is", "symbols are")
            ),
        );
    }
    let optional = of(|lookups| lookups.unresolved) - missing;
    if optional > 0 {
        report.note(format!(
            "{} defined by nothing that is loaded, and need not be (weak).",
            count(optional, "symbol is", "symbols are")
        ));
    }
}

fn surroundings(report: &mut Report, closure: &Closure) {
    if closure.secure {
        report.note(
            "It runs with rights that its user has not got: the loader ignores LD_LIBRARY_PATH, and takes from LD_PRELOAD \
             only privileged libraries of the system's folders.",
        );
    } else if let Some(path) = &closure.library_path {
        report.note(format!(
            "With LD_LIBRARY_PATH={path}, from the environment of this command."
        ));
    }
    if !closure.preload.is_empty() {
        report.note(format!("Preloaded: {}.", closure.preload.join(" ")));
    }
    if closure.bind_now {
        report.note("LD_BIND_NOW is set: all functions are bound at start.");
    }
}

fn objects(closure: &Closure) -> Table {
    let row = |(index, object): (usize, &Object)| {
        let relocations = &object.file.relocations;
        let eager = &object.eager;
        Row {
            tone: Tone::Plain,
            cells: vec![
                object.path.as_str().into(),
                how_found(closure, index, object).into(),
                number(relocations.relative + relocations.packed),
                number(eager.lookups),
                if eager.lookups > 0 {
                    Cell::from(format!("{:.1}", eager.libraries as f64 / eager.lookups as f64))
                } else {
                    Cell::Empty
                },
                number(object.lazy.lookups),
                object.file.hash_style.as_str().into(),
            ],
        }
    };
    Table {
        caption: "in the order of loading".to_owned(),
        columns: vec![
            Column::always("file"),
            Column::ranked(2, "found by"),
            Column::always("relative"),
            Column::always("lookups"),
            Column::ranked(1, "files each"),
            Column::ranked(1, "later"),
            Column::ranked(2, "hash"),
        ],
        rows: closure.objects.iter().enumerate().map(row).collect(),
    }
}

fn number(value: u64) -> Cell {
    quantity::whole(value).into()
}

fn how_found(closure: &Closure, index: usize, object: &Object) -> String {
    match object.role {
        Role::Program => return "–".to_owned(),
        Role::Loader => return "the kernel".to_owned(),
        Role::Preloaded | Role::Library => {}
    }
    let found = |search: &&Search| search.ending == Ending::Loaded && search.object == Some(index);
    let place = closure
        .searches
        .iter()
        .find(found)
        .and_then(|search| search.places.last());
    let by = place.map_or("", |place| reason(place.reason));
    match object.role {
        Role::Preloaded => format!("preload, {by}"),
        _ => by.to_owned(),
    }
}

const fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::Rpath => "RPATH",
        Reason::LibraryPath => "LD_LIBRARY_PATH",
        Reason::Runpath => "RUNPATH",
        Reason::Cache => "cache",
        Reason::Default => "default folder",
        Reason::Path => "its path",
    }
}

fn misses(report: &mut Report, closure: &Closure) {
    let all: Vec<_> = closure
        .searches
        .iter()
        .flat_map(|search| &search.places)
        .filter(|place| place.outcome != Outcome::Found)
        .collect();
    if all.is_empty() {
        return;
    }
    report.items.push(Item::Table(Table {
        caption: "looks in vain".to_owned(),
        columns: vec![
            Column::always("file"),
            Column::always("because of"),
            Column::ranked(1, "there is"),
        ],
        rows: all
            .iter()
            .take(LISTED)
            .map(|place| Row {
                tone: Tone::Plain,
                cells: vec![
                    place.path.as_str().into(),
                    reason(place.reason).into(),
                    match place.outcome {
                        Outcome::OtherMachine => "a file for another processor",
                        Outcome::Refused => "no library",
                        Outcome::Missing | Outcome::Found => "nothing",
                    }
                    .into(),
                ],
            })
            .collect(),
    }));
    if all.len() > LISTED {
        report.note(format!(
            "{} more are in the JSON document (--json FILE).",
            all.len() - LISTED
        ));
    }
}

fn phases(report: &mut Report, closure: &Closure, estimate: &Estimate) {
    let share = |part: f64| {
        if estimate.total > 0.0 {
            Cell::from(quantity::percent(part / estimate.total))
        } else {
            Cell::Empty
        }
    };
    let work = &closure.work;
    let row = |name: &str, time: f64, what: String| Row {
        tone: Tone::Plain,
        cells: vec![
            name.into(),
            Quantity::new(time, Unit::Microseconds).into(),
            share(time),
            what.into(),
        ],
    };
    report.heading("Where the loader's time goes");
    report.items.push(Item::Table(Table {
        caption: "estimate: counts, times what each step costs on this machine".to_owned(),
        columns: vec![
            Column::always("phase"),
            Column::always("time"),
            Column::always("share"),
            Column::ranked(1, "of"),
        ],
        rows: vec![
            row(
                "search",
                estimate.search,
                count(work.misses + work.folder_checks, "call in vain", "calls in vain"),
            ),
            row(
                "mapping",
                estimate.mapping,
                count(work.libraries, "library", "libraries"),
            ),
            row(
                "relative relocation",
                estimate.relative,
                count(work.relative, "place", "places"),
            ),
            row(
                "symbol lookup",
                estimate.lookup,
                count(work.eager.libraries, "table asked", "tables asked"),
            ),
            row(
                "page faults",
                estimate.faults,
                count(
                    work.relative_pages + work.symbol_pages,
                    "page copied",
                    "pages copied",
                ),
            ),
            row("all", estimate.total, String::new()),
        ],
    }));
    if let Some(measured) = closure.measured_entry_us {
        report.sentence(
            Tone::Plain,
            format!(
                "Measured to the entry point: {}. The estimate leaves out the kernel's part and what the loader does for itself.",
                quantity::text(measured, Unit::Microseconds)
            ),
        );
    }
    if let Some(remedy) = &closure.remedy {
        report.sentence(Tone::Good, remedy.clone());
    }
}
