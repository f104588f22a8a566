//! From a command line to cases: the product of parameter values and subjects, in a canonical order.
//!
//! What cannot run here becomes a row with a reason, before anything is started.

use record::model::{Case, Support, Unsupported};
use thiserror::Error;

use crate::benchmark::{Benchmark, Subject};
use crate::parameter::{ParameterError, Value};

/// More cases than this are a slip of the keyboard.
pub const MAX_CASES: usize = 100_000;

/// What was asked for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// `--set NAME=LIST`: parameter texts by name; the last one of a name wins.
    pub settings: Vec<(String, String)>,
    /// `--subject`: names; empty for those that take part by default.
    pub subjects: Vec<String>,
    /// The preset, if one was named.
    pub preset: Option<String>,
}

/// Why no plan could be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlanError {
    /// A parameter's text is wrong.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// No selected benchmark has this parameter.
    #[error("set {name}: no selected benchmark has it; they have {known}")]
    UnknownParameter {
        /// The name given.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// No selected suite has this subject.
    #[error("find the subject {name:?}; there are: {known}")]
    UnknownSubject {
        /// The name given.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// No selected benchmark has this preset.
    #[error("find the preset {name:?}; there are: {known}")]
    UnknownPreset {
        /// The name given.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// The product is too large.
    #[error("plan more than {MAX_CASES} cases; make a list shorter")]
    TooMany,
}

/// A case that is going to run.
#[derive(Clone, Debug)]
pub struct PlannedCase {
    /// Its name.
    pub case: Case,
    /// Its code.
    pub benchmark: &'static dyn Benchmark,
    /// How the worker's environment differs.
    pub environment: Vec<(String, String)>,
}

/// Everything that a run is going to do.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// What will run.
    pub cases: Vec<PlannedCase>,
    /// What cannot, and why.
    pub unsupported: Vec<Unsupported>,
}

/// Plans the selected benchmarks. `subjects_of` names the subjects of a suite.
///
/// # Errors
/// [`PlanError`] when a name or a list is wrong.
pub fn plan(
    benchmarks: &[&'static dyn Benchmark],
    request: &Request,
    subjects_of: &mut dyn FnMut(&str) -> Vec<Subject>,
) -> Result<Plan, PlanError> {
    check_names(benchmarks, request)?;
    let mut plan = Plan::default();
    let mut known_subjects = Vec::new();
    let mut used_subjects = vec![false; request.subjects.len()];
    for &benchmark in benchmarks {
        let info = benchmark.info();
        let subjects = subjects_of(info.suite);
        known_subjects.extend(subjects.iter().map(|subject| subject.name.clone()));
        let chosen: Vec<&Subject> = if request.subjects.is_empty() {
            subjects
                .iter()
                .filter(|subject| subject.by_default && benchmark.takes(&subject.name))
                .collect()
        } else {
            let mut chosen = Vec::new();
            for (name, used) in request.subjects.iter().zip(&mut used_subjects) {
                if let Some(subject) = subjects.iter().find(|subject| &subject.name == name) {
                    *used = true;
                    if benchmark.takes(name) {
                        chosen.push(subject);
                    }
                }
            }
            chosen
        };
        for parameters in product(benchmark, request)? {
            for subject in &chosen {
                if plan.cases.len() + plan.unsupported.len() >= MAX_CASES {
                    return Err(PlanError::TooMany);
                }
                let case = Case {
                    suite: info.suite.to_owned(),
                    benchmark: info.name.to_owned(),
                    parameters: parameters.clone(),
                    subject: subject.name.clone(),
                };
                let support = if subject.support.is_yes() {
                    benchmark.support(&case)
                } else {
                    subject.support.clone()
                };
                match support {
                    Support::Yes => {
                        plan.cases.push(PlannedCase {
                            case,
                            benchmark,
                            environment: subject.environment.clone(),
                        });
                    }
                    Support::No(reason) => {
                        plan.unsupported.push(Unsupported {
                            case: case.to_string(),
                            reason,
                        });
                    }
                }
            }
        }
    }
    if let Some((name, _)) = request.subjects.iter().zip(used_subjects).find(|(_, used)| !used) {
        known_subjects.dedup();
        return Err(PlanError::UnknownSubject {
            name: name.clone(),
            known: joined(known_subjects),
        });
    }
    Ok(plan)
}

fn joined(mut names: Vec<String>) -> String {
    let mut seen = Vec::new();
    names.retain(|name| {
        let new = !seen.contains(name);
        seen.push(name.clone());
        new
    });
    names.join(", ")
}

fn check_names(benchmarks: &[&'static dyn Benchmark], request: &Request) -> Result<(), PlanError> {
    for (name, _) in &request.settings {
        if !benchmarks
            .iter()
            .any(|benchmark| benchmark.info().parameter(name).is_some())
        {
            let known = benchmarks
                .iter()
                .flat_map(|b| b.info().parameters)
                .map(|p| p.name.to_owned())
                .collect();
            return Err(PlanError::UnknownParameter {
                name: name.clone(),
                known: joined(known),
            });
        }
    }
    if let Some(name) = &request.preset {
        let presets = || benchmarks.iter().flat_map(|benchmark| benchmark.info().presets);
        if !presets().any(|preset| preset.name == name) {
            let known = joined(presets().map(|preset| preset.name.to_owned()).collect());
            return Err(PlanError::UnknownPreset {
                name: name.clone(),
                known,
            });
        }
    }
    Ok(())
}

/// Every combination of parameter values, the last parameter varying fastest.
fn product(benchmark: &dyn Benchmark, request: &Request) -> Result<Vec<Vec<(String, String)>>, PlanError> {
    let info = benchmark.info();
    let preset = info
        .presets
        .iter()
        .find(|preset| Some(preset.name) == request.preset.as_deref());
    let mut combinations: Vec<Vec<(String, String)>> = vec![Vec::new()];
    for parameter in info.parameters {
        let set = request
            .settings
            .iter()
            .rev()
            .find(|(name, _)| name == parameter.name)
            .map(|(_, text)| &**text);
        let preset = preset
            .and_then(|p| p.settings.iter().find(|(name, _)| *name == parameter.name))
            .map(|(_, t)| *t);
        let values: Vec<Value> = parameter.values(set.or(preset).unwrap_or(parameter.default))?;
        if combinations.len() * values.len() > MAX_CASES {
            return Err(PlanError::TooMany);
        }
        combinations = combinations
            .into_iter()
            .flat_map(|combination| {
                values.iter().map(move |value| {
                    let mut longer = combination.clone();
                    longer.push((parameter.name.to_owned(), value.to_string()));
                    longer
                })
            })
            .collect();
    }
    Ok(combinations)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::{Info, Preset};
    use crate::parameter::{Kind, Parameter};
    use crate::trial::{Trial, TrialError};

    struct Fake;

    static INFO: Info = Info {
        suite: "heap",
        name: "fake",
        summary: "",
        parameters: &[
            Parameter {
                name: "threads",
                default: "1,2",
                unit: "",
                summary: "",
                kind: Kind::Number { min: 1, max: 9 },
            },
            Parameter {
                name: "size",
                default: "8",
                unit: "B",
                summary: "",
                kind: Kind::Number { min: 0, max: 99 },
            },
        ],
        metrics: &[],
        presets: &[Preset {
            name: "seed",
            summary: "",
            settings: &[("threads", "3")],
        }],
        floor_ns: 0.0,
    };

    impl Benchmark for Fake {
        fn info(&self) -> &'static Info {
            &INFO
        }

        fn support(&self, case: &Case) -> Support {
            if case.parameter("size") == Some("0") {
                Support::No("no size".to_owned())
            } else {
                Support::Yes
            }
        }

        fn run(&self, _: &mut Trial) -> Result<(), TrialError> {
            Ok(())
        }
    }

    fn subjects(_: &str) -> Vec<Subject> {
        ["system", "other"]
            .map(|name| Subject {
                name: name.to_owned(),
                summary: String::new(),
                support: Support::Yes,
                environment: Vec::new(),
                by_default: name == "system",
            })
            .to_vec()
    }

    fn names(
        settings: &[(&str, &str)],
        chosen: &[&str],
        preset: Option<&str>,
    ) -> Result<Vec<String>, PlanError> {
        let request = Request {
            settings: settings
                .iter()
                .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()))
                .collect(),
            subjects: chosen.iter().map(|&name| name.to_owned()).collect(),
            preset: preset.map(str::to_owned),
        };
        Ok(plan(&[&Fake], &request, &mut subjects)?
            .cases
            .iter()
            .map(|planned| planned.case.to_string())
            .collect())
    }

    #[test]
    fn the_product_is_complete_and_ordered() {
        assert_eq!(
            names(&[], &[], None).unwrap(),
            [
                "heap/fake/threads=1,size=8@system",
                "heap/fake/threads=2,size=8@system"
            ]
        );
        let all = names(&[("threads", "1+4"), ("size", "1,2")], &["other", "system"], None).unwrap();
        assert_eq!(all.len(), 8);
        assert_eq!(all[0], "heap/fake/threads=1,size=1@other");
        assert_eq!(all[7], "heap/fake/threads=4,size=2@system");
        assert_eq!(
            names(&[], &[], Some("seed")).unwrap(),
            ["heap/fake/threads=3,size=8@system"]
        );
    }

    #[test]
    fn what_cannot_run_is_a_row_with_a_reason() {
        let request = Request {
            settings: vec![("size".into(), "0+1".into())],
            ..Request::default()
        };
        let plan = plan(&[&Fake], &request, &mut subjects).unwrap();
        assert_eq!(plan.cases.len(), 2);
        assert_eq!(plan.unsupported[0].case, "heap/fake/threads=1,size=0@system");
        assert_eq!(plan.unsupported[0].reason, "no size");
    }

    #[test]
    fn unknown_names_are_refused_with_the_known_ones() {
        let text = |result: Result<Vec<String>, PlanError>| result.unwrap_err().to_string();
        assert_eq!(
            text(names(&[("thread", "1")], &[], None)),
            "set thread: no selected benchmark has it; they have threads, size"
        );
        assert_eq!(
            text(names(&[], &["mimaloc"], None)),
            "find the subject \"mimaloc\"; there are: system, other"
        );
        assert_eq!(
            text(names(&[], &[], Some("x"))),
            "find the preset \"x\"; there are: seed"
        );
        assert_eq!(
            text(names(&[("threads", "0")], &[], None)),
            "set threads: 0 lies outside of 1 to 9"
        );
    }
}
