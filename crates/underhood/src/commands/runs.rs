//! `underhood runs`: the stored runs.

use record::store::{Filter, Store};

use crate::context::Context;
use crate::exit::{COMMAND_FAILED, Done, Failure};

/// Arguments of `runs`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// At most so many, the latest first
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..), allow_negative_numbers = true)]
    limit: u32,
}

/// Runs the command.
pub fn run(args: Args, context: &Context) -> Result<Done, Failure> {
    let path = context.store_path()?;
    let runs = if path.exists() {
        let failed = |error: record::store::StoreError| Failure::new(COMMAND_FAILED, error.to_string());
        let mut store = Store::open_read_only(&path).map_err(failed)?;
        store
            .list(Filter {
                limit: Some(args.limit as usize),
                ..Filter::default()
            })
            .map_err(failed)?
    } else {
        Vec::new()
    };
    context.write_json(&record::format::to_text(&record::format::runs::Document::of(
        &runs,
    )))?;
    let report = report::runs::report(&runs);
    context.show(&context.render(&report))?;
    Ok(Done::OK)
}
