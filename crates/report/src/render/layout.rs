//! How wide each column of a table is in a terminal, and which columns find no room.
//!
//! Figures are never broken: half a number is a wrong number. So columns of figures get what they need, columns of
//! words share the rest and are wrapped. Where that is not enough the least important columns leave the table: their
//! words follow below it, their figures in a table of their own or, where that would be long, by name only.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, TableStyle, Width};
use unicode_width::UnicodeWidthStr;

use super::terminal::Terminal;
use crate::document::{Cell, Row, Table};

/// Spaces between columns.
const GAP: usize = 2;

/// A word of up to this length is not broken as long as leaving out other columns helps.
const LONG: usize = 30;

/// Drawn between rows, so that the lines of a row can be told from those of the next; then taken out. It is in
/// Unicode's private area, and text from outside never holds it here.
const MARK: char = '\u{e000}';

/// True for a character that may not reach a terminal: control characters and our own mark.
pub(super) fn unfit(letter: char) -> bool {
    letter.is_control() || letter == MARK
}

/// A table as lines.
pub(super) struct Layout {
    pub(super) head: Vec<String>,
    pub(super) rule: String,
    /// The lines of each row.
    pub(super) rows: Vec<Vec<String>>,
    /// What stood in columns of words that found no room.
    pub(super) below: Vec<String>,
    /// The columns of figures that found no room, by their place in the table.
    pub(super) left_out: Vec<usize>,
}

struct Column {
    place: usize,
    name: String,
    cells: Vec<String>,
    rank: u8,
    figures: bool,
    /// What it would take in one line.
    natural: usize,
    /// Its longest word.
    word: usize,
}

impl Column {
    /// The least that it needs: a figure all of it, words the longest one, but no more than `cap`.
    fn least(&self, cap: usize) -> usize {
        if self.figures {
            self.natural
        } else {
            self.word.min(cap)
        }
    }
}

/// Lays a table out; `shown` makes text fit for the terminal.
pub(super) fn lay_out(table: &Table, terminal: Terminal, shown: &dyn Fn(&str) -> String) -> Layout {
    let mut columns: Vec<Column> = (0..table.columns.len())
        .map(|index| column(table, index, shown))
        .collect();
    let too_wide = |columns: &[Column], cap: usize| {
        columns
            .iter()
            .map(|column| column.least(cap) + GAP)
            .sum::<usize>()
            > terminal.width + GAP
    };
    let mut removed = Vec::new();
    while too_wide(&columns, LONG) {
        let last = columns
            .iter()
            .enumerate()
            .filter(|(_, column)| column.rank > 0)
            .max_by_key(|(_, column)| column.rank);
        let Some((index, _)) = last else { break };
        removed.push(columns.remove(index));
    }
    removed.reverse();
    let cap = (1..=LONG)
        .rev()
        .find(|cap| !too_wide(&columns, *cap))
        .unwrap_or(1);
    let widths = widths(&columns, cap, terminal.width);
    let lines = draw(&columns, &widths);
    let mut parts = lines.split(|line| line.starts_with(MARK)).map(<[String]>::to_vec);
    let head = parts.next().unwrap_or_default();
    let total = widths
        .iter()
        .map(|width| width + GAP)
        .sum::<usize>()
        .saturating_sub(GAP);
    let rule = if terminal.unicode { "─" } else { "-" }.repeat(total.min(terminal.width));
    let (figures, words): (Vec<Column>, Vec<Column>) = removed.into_iter().partition(|column| column.figures);
    Layout {
        head,
        rule,
        rows: parts.collect(),
        below: words.iter().flat_map(|column| below(&columns, column)).collect(),
        left_out: figures.into_iter().map(|column| column.place).collect(),
    }
}

/// The table of what found no room, with the columns that name the rows: those of words before the first figure.
pub(super) fn continued(table: &Table, left_out: &[usize]) -> Table {
    let figures = |column: usize| {
        table
            .rows
            .iter()
            .any(|row| matches!(row.cells.get(column), Some(Cell::Figure(_))))
    };
    let names =
        (0..table.columns.len()).take_while(|column| table.columns[*column].rank == 0 && !figures(*column));
    let places: Vec<usize> = names.chain(left_out.iter().copied()).collect();
    let columns = places.iter().map(|place| table.columns[*place].clone()).collect();
    let pick = |row: &Row| Row {
        tone: row.tone,
        cells: places
            .iter()
            .map(|place| row.cells.get(*place).cloned().unwrap_or(Cell::Empty))
            .collect(),
    };
    Table {
        caption: String::new(),
        columns,
        rows: table.rows.iter().map(pick).collect(),
    }
}

/// The cells of a column of words that found no room beside the others, each after the name of its row.
fn below(columns: &[Column], column: &Column) -> Vec<String> {
    let names = columns.first().map_or(&[][..], |first| &first.cells);
    let cells = names
        .iter()
        .zip(&column.cells)
        .filter(|(_, cell)| !cell.is_empty());
    cells.map(|(name, cell)| format!("{name}: {cell}")).collect()
}

fn column(table: &Table, index: usize, shown: &dyn Fn(&str) -> String) -> Column {
    let mut figures = false;
    let cells: Vec<String> = table
        .rows
        .iter()
        .map(|row| match row.cells.get(index) {
            None | Some(Cell::Empty) => String::new(),
            Some(Cell::Text(text)) => shown(text),
            Some(Cell::Figure(quantity)) => {
                figures = true;
                shown(&quantity.text())
            }
        })
        .collect();
    let name = shown(&table.columns[index].name);
    let widest = cells.iter().map(|cell| cell.width()).max().unwrap_or(0);
    let longest = |text: &str| text.split(' ').map(UnicodeWidthStr::width).max().unwrap_or(0);
    let word = cells
        .iter()
        .chain([&name])
        .map(|text| longest(text))
        .max()
        .unwrap_or(0)
        .max(1);
    Column {
        place: index,
        rank: table.columns[index].rank,
        natural: widest.max(longest(&name)).max(1),
        word,
        name,
        cells,
        figures,
    }
}

/// Figures get what they need; words share what is left, the short ones first.
fn widths(columns: &[Column], cap: usize, width: usize) -> Vec<usize> {
    let mut widths: Vec<usize> = columns.iter().map(|column| column.least(cap)).collect();
    let used: usize = widths.iter().map(|width| width + GAP).sum();
    let mut spare = (width + GAP).saturating_sub(used);
    while spare > 0 {
        let short = (0..columns.len())
            .filter(|i| widths[*i] < columns[*i].natural)
            .min_by_key(|i| widths[*i]);
        let Some(short) = short else { break };
        widths[short] += 1;
        spare -= 1;
    }
    widths
}

fn draw(columns: &[Column], widths: &[usize]) -> Vec<String> {
    let rows = columns.first().map_or(0, |column| column.cells.len());
    let mark = LineStyle::none().fill(MARK);
    let mut table = comfy_table::Table::new();
    table.load_style(TableStyle::new().header_separator(mark).row_separator(mark));
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(columns.iter().map(|column| column.name.as_str()));
    for row in 0..rows {
        table.add_row(
            columns
                .iter()
                .map(|column| column.cells.get(row).map_or("", String::as_str)),
        );
    }
    for ((drawn, column), width) in table.column_iter_mut().zip(columns).zip(widths) {
        drawn.set_padding((0, u16::try_from(GAP).unwrap_or(0)));
        let width = u16::try_from(width + GAP).unwrap_or(u16::MAX);
        drawn.set_constraint(ColumnConstraint::Absolute(Width::Fixed(width)));
        if column.figures {
            drawn.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.lines().collect()
}
