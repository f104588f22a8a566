//! A report as a value, free of any way to show it.
//!
//! Figures stay figures: a cell carries the number with its interval and unit beside nothing else, so that one
//! renderer writes "14.2 ns (14.0 … 14.5)" and another puts three numbers into a spreadsheet.

use crate::quantity::Quantity;

/// What is to be told, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// One line that says what this is.
    pub title: String,
    /// The parts.
    pub items: Vec<Item>,
}

/// One part of a report.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A plain sentence that carries the news.
    Sentence(Tone, String),
    /// The head of what follows.
    Heading(String),
    /// A table.
    Table(Table),
    /// A picture.
    Chart(Chart),
    /// Command lines to copy.
    Commands(Vec<String>),
    /// Something that the reader must know, with what to do about it.
    Warning {
        /// Its short name.
        code: String,
        /// What was seen, and what to do.
        advice: String,
    },
    /// Something in small print.
    Note(String),
}

/// How something is meant; a renderer may show it as colour and must not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// As usual.
    #[default]
    Plain,
    /// News to be pleased about.
    Good,
    /// News to worry about.
    Bad,
    /// Of little interest.
    Dim,
}

/// Rows and columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What the rows have in common; may be empty.
    pub caption: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, each as long as there are columns.
    pub rows: Vec<Row>,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its head.
    pub name: String,
    /// 0: always shown. Where room is scarce, the columns with the greatest numbers are left out first.
    pub rank: u8,
}

impl Column {
    /// A column that is always shown.
    #[must_use]
    pub fn always(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            rank: 0,
        }
    }

    /// A column that may be left out.
    #[must_use]
    pub fn ranked(rank: u8, name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            rank,
        }
    }
}

/// A row.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// How it is meant.
    pub tone: Tone,
    /// Its cells.
    pub cells: Vec<Cell>,
}

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing to tell.
    Empty,
    /// Words.
    Text(String),
    /// A figure.
    Figure(Quantity),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Quantity> for Cell {
    fn from(quantity: Quantity) -> Self {
        Self::Figure(quantity)
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Empty, Into::into)
    }
}

/// Lines in a plane. Points that are not finite are gaps.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines.
    pub series: Vec<Series>,
}

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What is counted along it.
    pub name: String,
    /// In which unit.
    pub unit: record::model::Unit,
    /// True when equal steps are equal ratios.
    pub logarithmic: bool,
}

/// One line of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Its points from left to right.
    pub points: Vec<(f64, f64)>,
}

impl Report {
    /// An empty report.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            items: Vec::new(),
        }
    }

    pub(crate) fn sentence(&mut self, tone: Tone, text: impl Into<String>) {
        self.items.push(Item::Sentence(tone, text.into()));
    }

    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.items.push(Item::Note(text.into()));
    }

    pub(crate) fn heading(&mut self, text: impl Into<String>) {
        self.items.push(Item::Heading(text.into()));
    }
}
