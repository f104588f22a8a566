//! Splitting a text into rules, and choosing among them.

use crate::Error;
use crate::Fault;
use crate::Heap;
use crate::glob;

/// One rule of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule<'text> {
    /// The pattern, without the blanks around it; never empty.
    pub pattern: &'text [u8],
    /// The heap for the programs that it matches.
    pub heap: Heap,
}

impl Rule<'_> {
    /// True when the rule is meant for the program at `path`: an absolute path with its symbolic links resolved.
    pub fn applies_to(&self, path: &[u8]) -> bool {
        let subject = if self.pattern.contains(&b'/') {
            path
        } else {
            path.rsplit(|&byte| byte == b'/').next().unwrap_or(path)
        };
        glob::matches(self.pattern, subject)
    }
}

/// The rules of a text, in their order. The iterator ends after the first fault. Allocates nothing.
#[derive(Clone, Debug)]
pub struct Rules<'text> {
    text: &'text [u8],
    position: usize,
}

impl<'text> Rules<'text> {
    /// The rules of a text that may have faults.
    pub const fn of(text: &'text [u8]) -> Self {
        Self { text, position: 0 }
    }

    /// The heap that the rules choose for the program at `path`, `None` when no rule applies to it.
    ///
    /// # Errors
    /// The first fault in the text, also when it stands in a rule that would not have applied.
    pub fn choose(&self, path: &[u8]) -> Result<Option<Heap>, Error> {
        let mut chosen = None;
        for rule in self.clone() {
            let rule = rule?;
            if rule.applies_to(path) {
                chosen = Some(rule.heap);
            }
        }
        Ok(chosen)
    }

    /// The next piece of the text that could be a rule, blanks removed, and its position.
    fn next_piece(&mut self) -> Option<(usize, &'text [u8])> {
        while self.position < self.text.len() {
            let rest = &self.text[self.position..];
            let is_comment = rest.iter().find(|byte| !is_blank(**byte)) == Some(&b'#');
            let ends = |&byte: &u8| byte == b'\n' || (byte == b';' && !is_comment);
            let length = rest.iter().position(ends).unwrap_or(rest.len());
            let start = self.position;
            self.position += length + 1;
            let piece = &rest[..length];
            let blanks = piece.iter().take_while(|byte| is_blank(**byte)).count();
            let piece = trim_end(&piece[blanks..]);
            if !piece.is_empty() && !is_comment {
                return Some((start + blanks, piece));
            }
        }
        None
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

fn trim_end(mut text: &[u8]) -> &[u8] {
    while let [rest @ .., last] = text
        && is_blank(*last)
    {
        text = rest;
    }
    text
}

/// Reads one piece at its position.
fn read_rule(position: usize, piece: &[u8]) -> Result<Rule<'_>, Error> {
    let fault = |offset, fault| Error {
        position: position + offset,
        fault,
    };
    if let Some(zero) = piece.iter().position(|&byte| byte == 0) {
        return Err(fault(zero, Fault::ZeroByte));
    }
    let Some(equals) = piece.iter().rposition(|&byte| byte == b'=') else {
        return Err(fault(0, Fault::NoHeap));
    };
    let pattern = trim_end(&piece[..equals]);
    if pattern.is_empty() {
        return Err(fault(0, Fault::EmptyPattern));
    }
    // A path may contain '=', but hardly one with a heap's name behind it.
    if let Some(earlier) = pattern.iter().rposition(|&byte| byte == b'=')
        && Heap::from_name(pattern[earlier + 1..].trim_ascii()).is_some()
    {
        return Err(fault(equals, Fault::TwoHeaps));
    }
    let after = &piece[equals + 1..];
    let name = after.trim_ascii_start();
    if name.is_empty() {
        return Err(fault(equals + 1, Fault::EmptyHeap));
    }
    let heap = Heap::from_name(name)
        .ok_or_else(|| fault(equals + 1 + (after.len() - name.len()), Fault::UnknownHeap))?;
    Ok(Rule { pattern, heap })
}

impl<'text> Iterator for Rules<'text> {
    type Item = Result<Rule<'text>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let (position, piece) = self.next_piece()?;
        let rule = read_rule(position, piece);
        if rule.is_err() {
            self.position = self.text.len();
        }
        Some(rule)
    }
}

/// Reads a text that a person wrote. The result iterates over its rules, all of which are sound.
///
/// # Errors
/// The first fault: a rule that is incomplete or that names no known heap.
pub fn parse(text: &[u8]) -> Result<Rules<'_>, Error> {
    let rules = Rules::of(text);
    for rule in rules.clone() {
        let _sound = rule?;
    }
    Ok(rules)
}

/// The heap for the program at `path`, in all events: the system's when no rule applies or the text has a fault.
pub fn choose(text: &[u8], path: &[u8]) -> Heap {
    match Rules::of(text).choose(path) {
        Ok(Some(heap)) => heap,
        Ok(None) | Err(_) => Heap::System,
    }
}
