//! Comma-separated values (RFC 4180): every table of a report, one after the other, for spreadsheets and scripts.
//!
//! A figure is written as a plain number in the unit that its column names, with two more columns for the ends of its
//! interval where the table has any. Tables are set apart by an empty line; sentences, charts and warnings are left out.

use record::model::Unit;

use crate::document::{Cell, Item, Report, Table};
use crate::quantity::Quantity;

/// The tables of a report as CSV, lines ending with CR LF as the standard asks.
#[must_use]
pub fn render(report: &Report) -> String {
    let tables = report.items.iter().filter_map(|item| match item {
        Item::Table(table) => Some(self::table(table)),
        _ => None,
    });
    tables.collect::<Vec<_>>().join("\r\n")
}

fn table(table: &Table) -> String {
    let figures = |column: usize| {
        table
            .rows
            .iter()
            .filter_map(move |row| figure(row.cells.get(column)))
    };
    let units: Vec<Option<Unit>> = (0..table.columns.len())
        .map(|column| figures(column).next().map(|q| q.unit))
        .collect();
    let ranged: Vec<bool> = (0..table.columns.len())
        .map(|column| figures(column).any(|q| q.interval.is_some()))
        .collect();
    let mut head = Vec::new();
    for (column, (unit, ranged)) in table.columns.iter().zip(units.iter().zip(&ranged)) {
        let unit = unit.map_or(String::new(), |unit| format!(" [{}]", unit.symbol()));
        head.push(format!("{}{unit}", column.name));
        if *ranged {
            head.push(format!("{} low{unit}", column.name));
            head.push(format!("{} high{unit}", column.name));
        }
    }
    let mut text = line(&head);
    for row in &table.rows {
        let mut fields = Vec::new();
        for (cell, ranged) in row.cells.iter().zip(&ranged) {
            fields.push(match cell {
                Cell::Empty => String::new(),
                Cell::Text(words) => words.clone(),
                Cell::Figure(quantity) => number(quantity.value),
            });
            if *ranged {
                let interval = figure(Some(cell)).and_then(|q| q.interval);
                fields.push(interval.map_or(String::new(), |(low, _)| number(low)));
                fields.push(interval.map_or(String::new(), |(_, high)| number(high)));
            }
        }
        text.push_str(&line(&fields));
    }
    text
}

fn figure(cell: Option<&Cell>) -> Option<&Quantity> {
    match cell {
        Some(Cell::Figure(quantity)) => Some(quantity),
        _ => None,
    }
}

fn number(value: f64) -> String {
    if value.is_finite() {
        value.to_string()
    } else {
        String::new()
    }
}

fn line(fields: &[String]) -> String {
    fields
        .iter()
        .map(|field| quoted(field))
        .collect::<Vec<_>>()
        .join(",")
        + "\r\n"
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\r', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
