//! `underhood list`: every benchmark, its parameters and subjects, and whether it is supported here.

use measure::case_plan::{self, Request};
use measure::selector;
use record::model::{BenchmarkInfo, ParameterInfo, SubjectInfo, Support};

use crate::context::Context;
use crate::exit::{Done, Failure};
use crate::machine;

/// Arguments of `list`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A suite (heap), a benchmark (heap/heaptest), or a pattern with *
    #[arg(value_name = "SELECTOR")]
    selectors: Vec<String>,
}

/// Runs the command.
pub fn run(args: Args, context: &Context) -> Result<Done, Failure> {
    let all = suites::benchmarks();
    let infos: Vec<_> = all.iter().map(|benchmark| benchmark.info()).collect();
    let chosen = selector::select(&args.selectors, &infos).map_err(Failure::usage)?;
    let mut benchmarks = Vec::new();
    for benchmark in all
        .iter()
        .filter(|benchmark| chosen.iter().any(|info| std::ptr::eq(*info, benchmark.info())))
    {
        let info = benchmark.info();
        let subjects = suites::subjects(info.suite, &machine::artifact);
        // A benchmark is supported when its defaults give at least one case that can run.
        let plan = case_plan::plan(&[*benchmark], &Request::default(), &mut |_| subjects.clone())
            .map_err(Failure::usage)?;
        let reason = plan
            .unsupported
            .first()
            .filter(|_| plan.cases.is_empty())
            .map(|row| row.reason.clone());
        benchmarks.push(BenchmarkInfo {
            name: info.full_name(),
            summary: info.summary.to_owned(),
            parameters: info
                .parameters
                .iter()
                .map(|parameter| ParameterInfo {
                    name: parameter.name.to_owned(),
                    default: parameter.default.to_owned(),
                    unit: parameter.unit.to_owned(),
                    summary: parameter.summary.to_owned(),
                })
                .collect(),
            subjects: subjects
                .into_iter()
                .map(|subject| SubjectInfo {
                    name: subject.name,
                    support: subject.support,
                })
                .collect(),
            support: reason.map_or(Support::Yes, Support::No),
        });
    }
    context.write_json(&record::format::to_text(&record::format::list::Document::of(
        &benchmarks,
    )))?;
    let report = report::list::report(&benchmarks);
    context.show(&context.render(&report))?;
    Ok(Done::OK)
}
