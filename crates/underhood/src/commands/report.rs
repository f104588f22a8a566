//! `underhood report`: a stored run, shown again.

use record::format;
use record::model::{Run, RunId, RunKind};
use record::store::Store;

use crate::context::Context;
use crate::exit::{COMMAND_FAILED, Done, Failure};

/// Arguments of `report`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run's number, as `runs` lists it; the latest when absent
    #[arg(value_name = "RUN")]
    run: Option<i64>,
    /// As what it is shown
    #[arg(long, value_name = "FORMAT", default_value = "terminal", value_parser = ["terminal", "markdown", "csv"])]
    format: String,
    /// Show every metric and every remedy
    #[arg(long)]
    details: bool,
}

/// Runs the command.
pub fn run(args: Args, context: &Context) -> Result<Done, Failure> {
    let failed = |error: record::store::StoreError| Failure::new(COMMAND_FAILED, error.to_string());
    let path = context.store_path()?;
    let none = || {
        Failure::new(
            COMMAND_FAILED,
            format!("find a run in {}: nothing was measured yet", path.display()),
        )
    };
    if !path.exists() {
        return Err(none());
    }
    let mut store = Store::open_read_only(&path).map_err(failed)?;
    let id = match args.run {
        Some(number) => RunId(number),
        None => store.latest().map_err(failed)?.ok_or_else(none)?,
    };
    let run = store.load(id).map_err(failed)?;
    context.write_json(&json(&run))?;
    let report = report::of(&run, args.details);
    context.show(&match args.format.as_str() {
        "markdown" => report::render::markdown::render(&report),
        "csv" => report::render::csv::render(&report),
        _ => context.render(&report),
    })?;
    Ok(Done::OK)
}

/// The run as the JSON document of its kind.
fn json(run: &Run) -> String {
    match run.kind {
        RunKind::Measure => format::to_text(&format::run::Document::of(run)),
        RunKind::Time => format::to_text(&format::time::Document::of(run)),
        RunKind::Tune => {
            format::tune::Document::of(run).map_or_else(String::new, |document| format::to_text(&document))
        }
    }
}
