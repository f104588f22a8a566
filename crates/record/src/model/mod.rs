//! The words of the glossary as values. No module here does input or output.

mod advice;
mod case;
mod command;
mod environment;
mod figure;
mod listing;
mod measurement;
mod run;
mod tuning;

pub use advice::{Support, Unsupported, Warning};
pub use case::{Case, CaseError};
pub use command::{
    ArmKind, Block, Comparison, End, Entry, Metric as CommandMetric, NoiseFloor, Session, SessionArm, Verdict,
};
pub use environment::{ClockFacts, Environment};
pub use figure::Figure;
pub use listing::{BenchmarkInfo, ParameterInfo, RunId, RunSummary, SubjectInfo};
pub use measurement::{Measurement, Metric, Point, Trial, Unit};
pub use run::{Run, RunKind, RunStatus};
pub use tuning::{TuneArm, TuneArmState, Tuning};
