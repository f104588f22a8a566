//! The command line as a whole: which commands there are and what is common to all of them.

use clap::{CommandFactory, Parser, Subcommand};

use crate::commands;
use crate::context::{Common, Context};
use crate::exit::{Done, Failure};

/// Measures, diagnoses and speeds up what runs under every program.
#[derive(Debug, Parser)]
#[command(name = "underhood", version, about, long_about = None, max_term_width = 100)]
#[command(
    after_help = "Lists, everywhere a number is taken: begin[,end[,increment[,type]]], joined with +; type 1 doubles.\n\
    1,32,2,1 = 1 2 3 4 6 8 12 16 24 32; 4,8 = 4 5 6 7 8; suffixes k M G us ms s.\n\
    Exit codes: 0 done; 1 the command failed; 2 usage; 3 not supported here; 4 a check failed; 130 interrupted."
)]
pub struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run benchmarks; without a selector the quick profile of all suites
    Measure(commands::measure::Args),
    /// Show every benchmark, its parameters and subjects, and whether it is supported here
    List(commands::list::Args),
    /// Time a whole command to its exit, alone or against a baseline
    Time(commands::time::Args),
    /// Try remedies on a command, and prove or refuse each
    Tune(commands::tune::Args),
    /// Executables and shared libraries, made to order
    Image(commands::image::Args),
    /// Run a command with remedies applied
    Exec(commands::exec::Args),
    /// Choose heaps for finished programs, permanently and with undo
    Select(commands::select::Args),
    /// List stored runs
    Runs(commands::runs::Args),
    /// Show a stored run again; the latest without a number
    Report(commands::report::Args),
    /// Print a completion script for a shell
    Completions(commands::completions::Args),
    /// Write the manual pages
    Man(commands::man::Args),
}

impl Cli {
    /// Runs the command.
    pub fn run(self) -> Result<Done, Failure> {
        let context = Context::new(self.common)?;
        let silent = matches!(
            self.command,
            Command::Exec(_) | Command::Select(_) | Command::Completions(_) | Command::Man(_)
        );
        if silent && context.common.json.is_some() {
            return Err(Failure::usage(
                "write JSON: this command has no result to write; leave --json out",
            ));
        }
        match self.command {
            Command::Measure(args) => commands::measure::run(args, &context),
            Command::List(args) => commands::list::run(args, &context),
            Command::Time(args) => commands::time::run(args, &context),
            Command::Tune(args) => commands::tune::run(args, &context),
            Command::Image(args) => commands::image::run(&args, &context),
            Command::Exec(args) => commands::exec::run(args, &context),
            Command::Select(args) => commands::select::run(args, &context),
            Command::Runs(args) => commands::runs::run(args, &context),
            Command::Report(args) => commands::report::run(args, &context),
            Command::Completions(args) => commands::completions::run(args, Self::command()),
            Command::Man(args) => commands::man::run(args, Self::command()),
        }
    }
}
