//! A file as it was: content and attributes, or its absence; kept in the ledger as text where it is text, so that a
//! person can read it in an emergency.

use std::fs;
use std::io;
use std::path::Path;

use os::files::Attributes;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::exit::{CHECK_FAILED, COMMAND_FAILED, Failure};

/// More than any file of settings; what is larger is not one.
const LARGEST: u64 = 16 << 20;

/// A file that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Its bytes.
    pub content: Vec<u8>,
    /// Its owner and mode.
    pub attributes: Attributes,
}

impl State {
    /// What is at a path; `None` when nothing is.
    ///
    /// # Errors
    /// What is neither absent nor a plain file is refused: replacing a link would cut it, and following it would change
    /// somebody else's file.
    pub fn of(path: &Path) -> Result<Option<Self>, Failure> {
        let failed =
            |error: io::Error| Failure::new(COMMAND_FAILED, format!("read {}: {error}", path.display()));
        let metadata = match fs::symlink_metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        if !metadata.is_file() || metadata.len() > LARGEST {
            let what = if metadata.is_symlink() {
                "a symbolic link"
            } else {
                "no plain file of a reasonable size"
            };
            return Err(Failure::new(
                CHECK_FAILED,
                format!(
                    "change {}: it is {what}; replace it by a plain file first",
                    path.display()
                ),
            ));
        }
        let content = fs::read(path).map_err(failed)?;
        Ok(Some(Self {
            content,
            attributes: os::files::attributes(&metadata),
        }))
    }

    /// Makes `path` this, or absent.
    pub fn restore(state: Option<&Self>, path: &Path) -> Result<(), Failure> {
        let result = match state {
            Some(state) => os::files::write(path, &state.content, state.attributes),
            None => match fs::remove_file(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                other => other,
            },
        };
        result.map_err(|error| denied(error, &format!("write {}", path.display())))
    }
}

/// The failure of a change, with the advice that helps most often.
pub fn denied(error: io::Error, what: &str) -> Failure {
    let advice = match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "; the machine's settings are changed by root (sudo), your own with --user"
        }
        _ => "",
    };
    Failure::new(COMMAND_FAILED, format!("{what}: {error}{advice}"))
}

/// SHA-256 in hexadecimal digits.
pub fn digest(content: &[u8]) -> String {
    hexadecimal(&Sha256::digest(content))
}

fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// [`State`] as the ledger writes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    mode: u32,
    user: u32,
    group: u32,
    /// The content, where it is text.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The content in hexadecimal digits, where it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    hex: Option<String>,
}

impl From<&State> for Kept {
    fn from(state: &State) -> Self {
        let Attributes { mode, user, group } = state.attributes;
        let (text, hex) = match std::str::from_utf8(&state.content) {
            Ok(text) => (Some(text.to_owned()), None),
            Err(_) => (None, Some(hexadecimal(&state.content))),
        };
        Self {
            mode,
            user,
            group,
            text,
            hex,
        }
    }
}

impl Kept {
    /// The state again; `None` when the ledger is damaged.
    pub fn state(&self) -> Option<State> {
        let content = match (&self.text, &self.hex) {
            (Some(text), None) => text.clone().into_bytes(),
            (None, Some(hex)) => {
                let digits: Vec<u8> = hex
                    .chars()
                    .map(|digit| digit.to_digit(16).map(|value| value as u8))
                    .collect::<Option<_>>()?;
                if !digits.len().is_multiple_of(2) {
                    return None;
                }
                digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
            }
            _ => return None,
        };
        let attributes = Attributes {
            mode: self.mode,
            user: self.user,
            group: self.group,
        };
        Some(State { content, attributes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_content_is_kept() {
        for content in [&b""[..], b"text\n", b"\xff\x00\x80", "é".as_bytes()] {
            let state = State {
                content: content.to_owned(),
                attributes: os::files::own_attributes(0o4755),
            };
            let kept = Kept::from(&state);
            let text = serde_json::to_string(&kept).unwrap();
            assert_eq!(
                serde_json::from_str::<Kept>(&text).unwrap().state(),
                Some(state),
                "{text}"
            );
        }
        let damaged = Kept {
            mode: 0,
            user: 0,
            group: 0,
            text: None,
            hex: Some("0g".to_owned()),
        };
        assert_eq!(damaged.state(), None);
    }
}
