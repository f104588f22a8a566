//! Pieces that several documents share: numbers that may be missing, maps that keep their order, warnings.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::model::Warning;

/// A figure on its way to or from JSON: NaN and the infinities become `null`, and `null` becomes NaN.
///
/// Whole numbers below 2^53 are written without a fraction, as a person would write a count of bytes.
#[derive(Clone, Copy, Debug)]
pub struct Number(pub f64);

impl PartialEq for Number {
    /// Two missing figures are equal, unlike two NaN.
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0 || !(self.0.is_finite() || other.0.is_finite())
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self(value)
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// Every whole number up to here has a double of its own.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if !self.0.is_finite() {
            serializer.serialize_none()
        } else if self.0.fract() == 0.0 && self.0.abs() < EXACT {
            serializer.serialize_i64(self.0 as i64)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(
            Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::NAN),
        ))
    }
}

/// A JSON object whose keys keep the order of the list behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Ordered<T>(pub Vec<(String, T)>);

impl<T> Ordered<T> {
    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&T> {
        self.0
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value)
    }
}

impl<T: Serialize> Serialize for Ordered<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ordered<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = Vec<(String, T)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(entries)
            }
        }

        deserializer.deserialize_map(Entries(PhantomData)).map(Self)
    }
}

/// A warning with its advice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarningDoc {
    /// Stable short name.
    pub code: String,
    /// What was seen, and what to do.
    pub advice: String,
}

impl WarningDoc {
    pub(super) fn all(warnings: &[Warning]) -> Vec<Self> {
        warnings
            .iter()
            .map(|w| Self {
                code: w.code.clone(),
                advice: w.advice.clone(),
            })
            .collect()
    }
}

/// A document as indented text that ends with a line feed.
#[must_use]
pub fn to_text(document: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(document)
        .expect("wire types hold nothing that JSON cannot write, by construction");
    text.push('\n');
    text
}

/// A parameter's value: a number when it is spelt exactly as JSON would spell it, otherwise text.
///
/// `2` and `0.5` become numbers; `007`, `1e3`, `all` stay text, so nothing of the spelling is lost.
pub(super) fn scalar(text: &str) -> Value {
    if let Ok(whole) = text.parse::<i64>()
        && whole.to_string() == text
    {
        return whole.into();
    }
    if let Ok(number) = text.parse::<f64>()
        && number.is_finite()
        && number.to_string() == text
    {
        return number.into();
    }
    text.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_finite_is_null_and_whole_numbers_look_whole() {
        let text = |x: f64| serde_json::to_string(&Number(x)).unwrap();
        assert_eq!(text(f64::NAN), "null");
        assert_eq!(text(f64::INFINITY), "null");
        assert_eq!(text(14.25), "14.25");
        assert_eq!(text(4096.0), "4096");
        assert_eq!(text(-0.0), "0");
        assert_eq!(text(1e300), "1e+300");
        let back: Vec<Number> = serde_json::from_str("[null, 3, 0.5]").unwrap();
        assert!(back[0].0.is_nan());
        assert_eq!((back[1].0, back[2].0), (3.0, 0.5));
    }

    #[test]
    fn a_parameter_keeps_its_spelling() {
        assert_eq!(scalar("2048"), serde_json::json!(2048));
        assert_eq!(scalar("-1"), serde_json::json!(-1));
        assert_eq!(scalar("0.5"), serde_json::json!(0.5));
        for odd in ["007", "1e3", "all", "", "+1", "inf", "NaN", "1.50"] {
            assert_eq!(scalar(odd), serde_json::json!(odd));
        }
    }

    #[test]
    fn an_object_keeps_its_order() {
        let map = Ordered(vec![("z".to_owned(), 1), ("a".to_owned(), 2)]);
        let text = serde_json::to_string(&map).unwrap();
        assert_eq!(text, r#"{"z":1,"a":2}"#);
        assert_eq!(serde_json::from_str::<Ordered<i32>>(&text).unwrap(), map);
        assert_eq!(map.get("a"), Some(&2));
    }
}
