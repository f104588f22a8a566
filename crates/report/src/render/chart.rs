//! Charts made of characters.
//!
//! With Unicode every character is a Braille pattern of two by four dots, so a chart of 60 × 10 characters has
//! 120 × 40 dots; without, a line is drawn with its own small letter. Lines must be told apart without colour: each
//! has a capital letter, at its points when they are few, else at its end.

use std::borrow::Cow;

use unicode_width::UnicodeWidthStr;

use super::plain::ascii;
use crate::document::{Axis, Chart};
use crate::quantity;

/// The rows of characters of the plane.
const HEIGHT: usize = 10;

/// The widest plane, in characters; a longer time axis shows no more.
const WIDEST: usize = 72;

/// A line with more points than this is marked at its end only.
const FEW: usize = 16;

/// One line of text; every piece may belong to a line of the chart.
pub(super) struct Line(pub(super) Vec<(String, Option<usize>)>);

impl Line {
    fn new(text: impl Into<String>) -> Self {
        Self(vec![(text.into(), None)])
    }

    fn push(&mut self, letter: char, series: Option<usize>) {
        match self.0.last_mut() {
            Some((text, owner)) if *owner == series => text.push(letter),
            _ => self.0.push((letter.to_string(), series)),
        }
    }

    /// The text without its pieces.
    pub(super) fn plain(&self) -> String {
        let text: String = self.0.iter().map(|(text, _)| text.as_str()).collect();
        text.trim_end().to_owned()
    }
}

/// The chart without its title, in lines of at most `width` characters where there is room for a plane at all.
pub(super) fn draw(chart: &Chart, width: usize, unicode: bool) -> Vec<Line> {
    let finite = || {
        chart
            .series
            .iter()
            .flat_map(|line| &line.points)
            .filter(|(x, y)| x.is_finite() && y.is_finite())
    };
    let (Some(x), Some(y)) = (
        Range::of(&chart.x, finite().map(|p| p.0)),
        Range::of(&chart.y, finite().map(|p| p.1)),
    ) else {
        return vec![Line::new("(no points to show)")];
    };
    let shown = |text: String| if unicode { text } else { ascii(&text).into_owned() };
    let label = |axis: &Axis, value: f64| shown(quantity::text(value, axis.unit));
    let (top, middle, bottom) = (
        label(&chart.y, y.high),
        label(&chart.y, y.at(0.5)),
        label(&chart.y, y.low),
    );
    let margin = [&top, &middle, &bottom]
        .iter()
        .map(|text| text.width())
        .max()
        .unwrap_or(0);
    let across = width.saturating_sub(margin + 2).clamp(10, WIDEST);

    let mut plane = Plane::new(across, unicode);
    for (series, line) in chart.series.iter().enumerate() {
        plane.line(series, &line.points, &x, &y);
    }
    let mut lines = Vec::new();
    for (row, cells) in plane.cells.chunks(across).enumerate() {
        let text = match row {
            0 => &top,
            _ if row == HEIGHT / 2 => &middle,
            _ if row == HEIGHT - 1 => &bottom,
            _ => "",
        };
        let rule = if unicode { '┤' } else { '|' };
        let mut line = Line::new(format!("{}{text} {rule}", " ".repeat(margin - text.width())));
        cells
            .iter()
            .for_each(|cell| line.push(cell.letter(unicode), cell.series));
        lines.push(line);
    }
    lines.extend(below(chart, &x, margin, across, unicode));
    lines
}

/// What stands below the plane: the ends of the horizontal axis, and which letter is which line.
fn below(chart: &Chart, x: &Range, margin: usize, across: usize, unicode: bool) -> Vec<Line> {
    let shown = |text: &str| if unicode { Cow::Borrowed(text) } else { ascii(text) }.into_owned();
    let left = shown(&quantity::text(x.low, chart.x.unit));
    let mut right = shown(&quantity::text(x.high, chart.x.unit));
    let scale = |axis: &Axis| if axis.logarithmic { ", logarithmic" } else { "" };
    right = format!("{right} {}{}", shown(&chart.x.name), scale(&chart.x));
    let gap = (across + 1).saturating_sub(left.width() + right.width()).max(2);
    let mut lines = vec![Line::new(format!(
        "{}{left}{}{right}",
        " ".repeat(margin + 1),
        " ".repeat(gap)
    ))];
    let mut legend = Line::new(" ".repeat(margin + 2));
    for (series, line) in chart.series.iter().enumerate() {
        let text = format!("{} {}  ", capital(series), shown(&line.name));
        let length: usize = legend.0.iter().map(|(text, _)| text.width()).sum();
        if length > margin + 2 && length + text.width() > margin + 2 + across {
            lines.push(std::mem::replace(&mut legend, Line::new(" ".repeat(margin + 2))));
        }
        legend.0.push((text, Some(series)));
    }
    lines.push(legend);
    if chart.y.logarithmic {
        lines.push(Line::new(format!(
            "{}({} is logarithmic)",
            " ".repeat(margin + 2),
            shown(&chart.y.name)
        )));
    }
    lines
}

/// The ends of an axis.
struct Range {
    low: f64,
    high: f64,
    logarithmic: bool,
}

impl Range {
    /// None without values. A linear axis of amounts starts at 0, or a small difference would look large.
    fn of(axis: &Axis, values: impl Iterator<Item = f64>) -> Option<Self> {
        let (low, high) = values
            .filter(|value| !axis.logarithmic || *value > 0.0)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
                (low.min(x), high.max(x))
            });
        if low > high {
            return None;
        }
        let low = if axis.logarithmic { low } else { low.min(0.0) };
        let high = if low < high {
            high
        } else if axis.logarithmic {
            low * 2.0
        } else {
            low + 1.0
        };
        Some(Self {
            low,
            high,
            logarithmic: axis.logarithmic,
        })
    }

    /// Where a value lies, from 0 to 1; none when it is not on the axis.
    fn place(&self, value: f64) -> Option<f64> {
        let share = if self.logarithmic {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            // Halved, so that the span of all doubles is still a double.
            (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0)
        };
        share.is_finite().then(|| share.clamp(0.0, 1.0))
    }

    /// The value at a place.
    fn at(&self, share: f64) -> f64 {
        if self.logarithmic {
            self.low * (self.high / self.low).powf(share)
        } else {
            self.low * (1.0 - share) + self.high * share
        }
    }
}

/// One character of the plane.
#[derive(Clone, Copy, Default)]
struct Cell {
    dots: u8,
    mark: Option<char>,
    series: Option<usize>,
}

impl Cell {
    fn letter(self, unicode: bool) -> char {
        match (self.mark, self.series, self.dots) {
            (Some(mark), ..) => mark,
            (None, Some(_), dots @ 1..) if unicode => char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' '),
            (None, Some(series), 1..) => capital(series).to_ascii_lowercase(),
            _ => ' ',
        }
    }
}

struct Plane {
    across: usize,
    /// Dots of a character, across and down.
    dots: (usize, usize),
    cells: Vec<Cell>,
}

impl Plane {
    fn new(across: usize, unicode: bool) -> Self {
        let dots = if unicode { (2, 4) } else { (1, 1) };
        Self {
            across,
            dots,
            cells: vec![Cell::default(); across * HEIGHT],
        }
    }

    fn line(&mut self, series: usize, points: &[(f64, f64)], x: &Range, y: &Range) {
        let (right, down) = (self.across * self.dots.0 - 1, HEIGHT * self.dots.1 - 1);
        let dot = |(px, py): &(f64, f64)| {
            let column = (x.place(*px)? * right as f64).round() as usize;
            let row = ((1.0 - y.place(*py)?) * down as f64).round() as usize;
            (px.is_finite() && py.is_finite()).then_some((column, row))
        };
        let places: Vec<Option<(usize, usize)>> = points.iter().map(dot).collect();
        for pair in places.windows(2) {
            if let [Some(from), Some(to)] = pair {
                self.stroke(series, *from, *to);
            }
        }
        let known = places.iter().flatten().count();
        let last = places.iter().flatten().last();
        for place in places.iter().flatten() {
            self.dot(series, *place);
            if known <= FEW || Some(place) == last {
                self.cell(*place).mark = Some(capital(series));
            }
        }
    }

    fn stroke(&mut self, series: usize, from: (usize, usize), to: (usize, usize)) {
        let steps = from.0.abs_diff(to.0).max(from.1.abs_diff(to.1)).max(1);
        let between = |a: usize, b: usize, step: usize| {
            let share = step as f64 / steps as f64;
            (a as f64 * (1.0 - share) + b as f64 * share).round() as usize
        };
        for step in 0..=steps {
            self.dot(series, (between(from.0, to.0, step), between(from.1, to.1, step)));
        }
    }

    fn cell(&mut self, (column, row): (usize, usize)) -> &mut Cell {
        &mut self.cells[row / self.dots.1 * self.across + column / self.dots.0]
    }

    fn dot(&mut self, series: usize, place: (usize, usize)) {
        /// The bits of a Braille pattern, by row and column.
        const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        let bit = BITS[place.1 % self.dots.1][place.0 % self.dots.0];
        let cell = self.cell(place);
        if cell.mark.is_none() {
            cell.series = Some(series);
        }
        cell.dots |= bit;
    }
}

/// The letter of a line of the chart.
fn capital(series: usize) -> char {
    u8::try_from(series)
        .ok()
        .filter(|series| *series < 26)
        .map_or('*', |series| char::from(b'A' + series))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Series;
    use record::model::Unit;

    fn chart(points: &[(f64, f64)], logarithmic: bool) -> Chart {
        Chart {
            title: String::new(),
            x: Axis {
                name: "time".into(),
                unit: Unit::Nanoseconds,
                logarithmic: false,
            },
            y: Axis {
                name: "rate".into(),
                unit: Unit::PerSecond,
                logarithmic,
            },
            series: vec![Series {
                name: "one".into(),
                points: points.to_vec(),
            }],
        }
    }

    fn lines(chart: &Chart, unicode: bool) -> Vec<String> {
        draw(chart, 40, unicode).iter().map(Line::plain).collect()
    }

    #[test]
    fn a_rise_goes_from_the_lower_left_to_the_upper_right() {
        let text = lines(&chart(&[(0.0, 0.0), (1e9, 1000.0)], false), false);
        assert_eq!(text[0], format!("1.00 k/s |{}aA", " ".repeat(28)));
        assert_eq!(text[9], "    0 /s |Aa");
        assert_eq!(text[10], format!("         0 ns{}1.00 s time", " ".repeat(16)));
        assert_eq!(text[11], "          A one");
    }

    #[test]
    fn odd_values_are_gaps() {
        for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let text = lines(&chart(&[(0.0, odd), (odd, 1.0)], false), true);
            assert_eq!(text, ["(no points to show)"]);
        }
        assert!(lines(&chart(&[(0.0, f64::MIN), (f64::MAX, f64::MAX)], false), true).len() > HEIGHT);
        assert!(lines(&chart(&[(0.0, -1.0), (1.0, 5.0), (2.0, 0.0)], true), true).len() > HEIGHT);
        assert!(
            lines(&chart(&[(3.0, 7.0)], true), true)[0].contains('A')
                || lines(&chart(&[(3.0, 7.0)], true), true)[9].contains('A')
        );
    }
}
