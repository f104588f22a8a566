//! Markdown (GitHub's, with tables), for pull requests and notes. Charts are drawn as in a terminal, in code blocks.

use crate::document::{Cell, Item, Report, Table, Tone};

use super::chart;

/// The width of charts, in characters.
const CHART_WIDTH: usize = 80;

/// The report as Markdown.
#[must_use]
pub fn render(report: &Report) -> String {
    let mut parts = vec![format!("# {}", escaped(&report.title))];
    for item in &report.items {
        parts.push(match item {
            Item::Sentence(Tone::Good | Tone::Bad, text) => format!("**{}**", escaped(text)),
            Item::Sentence(_, text) => escaped(text),
            Item::Heading(text) => format!("## {}", escaped(text)),
            Item::Table(table) => self::table(table),
            Item::Chart(chart) => {
                let lines = chart::draw(chart, CHART_WIDTH, true);
                let plain: String = lines.iter().map(|line| line.plain() + "\n").collect();
                format!("{}\n\n```text\n{plain}```", escaped(&chart.title))
            }
            Item::Commands(lines) => fenced(lines),
            Item::Warning { code, advice } => {
                format!("> **Warning** ({}): {}", escaped(code), escaped(advice))
            }
            Item::Note(text) => format!("<sub>{}</sub>", escaped(text)),
        });
    }
    parts.join("\n\n") + "\n"
}

/// A code block whose fence is longer than any in it.
fn fenced(lines: &[String]) -> String {
    let text = lines.join("\n");
    let longest = text
        .split(|letter| letter != '`')
        .map(str::len)
        .max()
        .unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}sh\n{text}\n{fence}")
}

fn table(table: &Table) -> String {
    let row = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let numeric = |column: usize| {
        table
            .rows
            .iter()
            .any(|row| matches!(row.cells.get(column), Some(Cell::Figure(_))))
    };
    let mut lines = Vec::new();
    if !table.caption.is_empty() {
        lines.push(escaped(&table.caption));
        lines.push(String::new());
    }
    lines.push(row(table
        .columns
        .iter()
        .map(|column| escaped(&column.name))
        .collect()));
    let rule = |column| if numeric(column) { "---:" } else { "---" }.to_owned();
    lines.push(row((0..table.columns.len()).map(rule).collect()));
    for line in &table.rows {
        lines.push(row(line.cells.iter().map(cell).collect()));
    }
    lines.join("\n")
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Empty => String::new(),
        Cell::Text(text) => escaped(text),
        Cell::Figure(quantity) => escaped(&quantity.text()),
    }
}

/// Text that Markdown shows as it is, on one line.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~' => {
                safe.push('\\');
                safe.push(letter);
            }
            control if control.is_control() => safe.push(' '),
            other => safe.push(other),
        }
    }
    safe
}
