//! The host of a run, as the object `environment` of every document that carries figures.
//!
//! Facts stand flat under their own names. Only facts that are numbers by nature are written as numbers: a
//! kernel called `6.18` must not become a number on one machine and stay text (`6.18.1`) on the next.

use serde_json::{Map, Value};

use crate::model::Environment;

use super::common::scalar;

/// The object of an environment: every fact by name, then `clock` (`null` when none was chosen).
#[must_use]
pub fn object(environment: &Environment) -> Map<String, Value> {
    let mut map = Map::new();
    for (name, value) in &environment.facts {
        let value = if is_numeric(name) {
            scalar(value)
        } else {
            value.clone().into()
        };
        map.insert(name.clone(), value);
    }
    let clock = environment.clock.as_ref().map(|clock| {
        serde_json::json!({
            "name": clock.name,
            "resolution_ns": clock.resolution_ns,
            "cost_ns": clock.cost_ns,
            "reason": clock.reason,
        })
    });
    map.insert("clock".to_owned(), clock.unwrap_or(Value::Null));
    map
}

/// Facts that count or measure something, told by their names.
fn is_numeric(name: &str) -> bool {
    name == "cpus"
        || ["_bytes", "_count", "_mhz", "_ns", "_us"]
            .iter()
            .any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ClockFacts;

    #[test]
    fn facts_stand_flat_and_only_quantities_are_numbers() {
        let mut environment = Environment {
            facts: [("kernel", "6.18"), ("cpus", "2"), ("memory_bytes", "16777216")]
                .map(|(k, v)| (k.to_owned(), v.to_owned()))
                .to_vec(),
            clock: None,
        };
        let text = |e: &Environment| serde_json::to_string(&object(e)).unwrap();
        assert_eq!(
            text(&environment),
            r#"{"kernel":"6.18","cpus":2,"memory_bytes":16777216,"clock":null}"#
        );
        environment.facts.clear();
        environment.clock = Some(ClockFacts {
            name: "tsc".into(),
            resolution_ns: 0.5,
            cost_ns: f64::NAN,
            reason: "invariant".into(),
        });
        assert_eq!(
            text(&environment),
            r#"{"clock":{"name":"tsc","resolution_ns":0.5,"cost_ns":null,"reason":"invariant"}}"#
        );
    }
}
