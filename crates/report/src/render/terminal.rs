//! The report for a terminal.
//!
//! Styles are always written; the caller strips them (anstream does) where they are not wanted. Nothing depends on
//! them. Text from outside, such as a command's name, loses its control characters here: it must not be able to
//! steer the reader's terminal.

use std::borrow::Cow;

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthChar;

use super::plain::ascii;
use super::{chart, layout};
use crate::document::{Item, Report, Table, Tone};

/// What the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terminal {
    /// Characters in a line; 40 at least are used.
    pub width: usize,
    /// False when only ASCII may be written.
    pub unicode: bool,
}

/// The report as text with styles, ending with a line feed.
#[must_use]
pub fn render(report: &Report, terminal: Terminal) -> String {
    let mut page = Page {
        terminal: Terminal {
            width: terminal.width.max(40),
            ..terminal
        },
        text: String::new(),
    };
    if !report.title.is_empty() {
        page.paragraph(&report.title, "", Style::new().bold());
    }
    let mut before: Option<&Item> = None;
    for item in &report.items {
        if apart(before, item) {
            page.text.push('\n');
        }
        page.item(item);
        before = Some(item);
    }
    page.text
}

/// Whether an empty line goes between two items: notes and sentences stick together.
fn apart(before: Option<&Item>, item: &Item) -> bool {
    !matches!(
        (before, item),
        (Some(Item::Note(_)), Item::Note(_))
            | (Some(Item::Warning { .. }), Item::Warning { .. })
            | (Some(Item::Sentence(..)), Item::Sentence(..) | Item::Note(_))
            | (Some(Item::Heading(_)), _)
    )
}

/// A table of up to so many rows is continued below, once, when it is too wide; a longer one leaves columns out.
const SHORT: usize = 12;

struct Page {
    terminal: Terminal,
    text: String,
}

impl Page {
    fn item(&mut self, item: &Item) {
        let dim = Style::new().dimmed();
        match item {
            Item::Sentence(tone, text) => self.paragraph(text, "", style(*tone)),
            Item::Heading(text) => self.paragraph(text, "", Style::new().bold().underline()),
            Item::Table(table) => self.table(table, false),
            Item::Chart(chart) => self.chart(chart),
            Item::Commands(lines) => {
                for line in lines {
                    let line = format!("    {}", self.clean(line));
                    self.line(&line, Style::new());
                }
            }
            Item::Warning { code, advice } => {
                self.paragraph(
                    &format!("warning: {advice} [{code}]"),
                    "  ",
                    AnsiColor::Yellow.on_default(),
                );
            }
            Item::Note(text) => self.paragraph(text, "", dim),
        }
    }

    /// Text as this terminal can show it.
    fn clean<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let text = if text.contains(layout::unfit) {
            Cow::Owned(
                text.chars()
                    .map(|letter| if layout::unfit(letter) { ' ' } else { letter })
                    .collect(),
            )
        } else {
            Cow::Borrowed(text)
        };
        if self.terminal.unicode {
            text
        } else {
            Cow::Owned(ascii(&text).into_owned())
        }
    }

    fn line(&mut self, text: &str, style: Style) {
        let text = text.trim_end();
        if style == Style::new() || text.is_empty() {
            self.text.push_str(text);
        } else {
            self.text.push_str(&format!("{style}{text}{style:#}"));
        }
        self.text.push('\n');
    }

    /// Text broken between words; further lines begin with `indent`.
    fn paragraph(&mut self, text: &str, indent: &str, style: Style) {
        let text = self.clean(text).into_owned();
        for line in wrap(&text, self.terminal.width, indent) {
            self.line(&line, style);
        }
    }

    /// A table; a `continuation` is not continued again.
    fn table(&mut self, table: &Table, continuation: bool) {
        let shown = |text: &str| self.clean(text).into_owned();
        let layout = layout::lay_out(table, self.terminal, &shown);
        if !table.caption.is_empty() {
            self.paragraph(&table.caption, "", Style::new());
        }
        for line in &layout.head {
            self.line(line, Style::new().bold());
        }
        self.line(&layout.rule, Style::new().dimmed());
        for (row, lines) in table.rows.iter().zip(&layout.rows) {
            for line in lines {
                self.line(line, style(row.tone));
            }
        }
        for text in &layout.below {
            self.paragraph(text, "  ", Style::new());
        }
        if layout.left_out.is_empty() {
            return;
        }
        if !continuation && table.rows.len() <= SHORT && layout.left_out.len() > 1 {
            self.text.push('\n');
            self.table(&layout::continued(table, &layout.left_out), true);
        } else {
            let names: Vec<&str> = layout
                .left_out
                .iter()
                .map(|place| table.columns[*place].name.as_str())
                .collect();
            self.paragraph(
                &format!(
                    "(no room for: {}; a wider terminal or --json shows it)",
                    names.join(", ")
                ),
                "",
                Style::new().dimmed(),
            );
        }
    }

    fn chart(&mut self, chart: &crate::document::Chart) {
        const COLOURS: [AnsiColor; 6] = [
            AnsiColor::Red,
            AnsiColor::Green,
            AnsiColor::Cyan,
            AnsiColor::Magenta,
            AnsiColor::Yellow,
            AnsiColor::Blue,
        ];
        self.paragraph(&chart.title, "", Style::new());
        for line in chart::draw(chart, self.terminal.width, self.terminal.unicode) {
            let plain = line.plain();
            let mut room = plain.chars().count();
            for (text, series) in &line.0 {
                let text: String = self.clean(text).chars().take(room).collect();
                room -= text.chars().count();
                match series.map(|series| COLOURS[series % COLOURS.len()].on_default()) {
                    Some(style) if !text.is_empty() => self.text.push_str(&format!("{style}{text}{style:#}")),
                    _ => self.text.push_str(&text),
                }
            }
            self.text.push('\n');
        }
    }
}

fn style(tone: Tone) -> Style {
    match tone {
        Tone::Plain => Style::new(),
        Tone::Good => AnsiColor::Green.on_default(),
        Tone::Bad => AnsiColor::Red.on_default(),
        Tone::Dim => Style::new().dimmed(),
    }
}

/// Lines of at most `width` columns, broken between words; a word that is longer stands alone, whole.
fn wrap(text: &str, width: usize, indent: &str) -> Vec<String> {
    let columns = |text: &str| {
        text.chars()
            .map(|letter| letter.width().unwrap_or(0))
            .sum::<usize>()
    };
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        if line.trim().is_empty() {
            line.push_str(word);
        } else if columns(&line) + 1 + columns(word) <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(std::mem::replace(&mut line, format!("{indent}{word}")));
        }
    }
    lines.push(line);
    lines
}
