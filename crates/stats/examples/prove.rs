//! Prints the error rates and the power of every rule as Markdown tables.
//!
//! `cargo run --release -p underhood-stats --example prove [SESSIONS [SEED]]`; 10,000 sessions by default.
//! Ends with status 1 when a rule broke its promise.

#![expect(clippy::print_stdout, reason = "printing tables is the whole purpose")]

use std::process::ExitCode;

use underhood_stats::simulate::{self, power};

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).map(|argument| argument.parse::<u64>());
    let (Some(sessions), Some(seed)) = (
        numbers
            .next()
            .unwrap_or(Ok(10_000))
            .ok()
            .and_then(|n| usize::try_from(n).ok()),
        numbers.next().unwrap_or(Ok(1)).ok(),
    ) else {
        println!("usage: prove [SESSIONS [SEED]], two whole numbers");
        return ExitCode::from(2);
    };

    println!("## Error rates, {sessions} sessions each\n");
    println!("| rule | data | promised | observed | limit | |\n|---|---|---|---|---|---|");
    let rows = simulate::all(sessions, seed);
    for row in &rows {
        let (promised, state) = match (row.promised, row.holds()) {
            (false, _) => ("none".to_owned(), "outside the promise"),
            (true, true) => (format!("{:.1} %", 100.0 * row.alpha), "holds"),
            (true, false) => (format!("{:.1} %", 100.0 * row.alpha), "**broken**"),
        };
        let (error, limit) = (100.0 * row.error, 100.0 * row.limit());
        println!(
            "| {} | {} | {promised} | {error:.2} % | {limit:.2} % | {state} |",
            row.rule, row.data
        );
    }

    // Power needs less precision than error rates do.
    let sessions = sessions.div_ceil(10);
    println!("\n## Power, {sessions} sessions each, looked at after every block\n");
    println!("| sequence | noise | effect | pair noise | median blocks | by 30 | by 60 | by 80 | by 200 |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for row in power::table(sessions, seed)
        .iter()
        .chain(&power::equivalence(sessions, seed))
    {
        let effect = if row.effect > 0.0 {
            format!("{:.0} % slower", 100.0 * row.effect)
        } else {
            "equivalent within 1 %".to_owned()
        };
        let median = row
            .median_blocks
            .map_or("more than 200".to_owned(), |blocks| blocks.to_string());
        println!(
            "| {} | {} | {effect} | {:.1} % | {median} | {:.0} % | {:.0} % | {:.0} % | {:.0} % |",
            row.rule,
            row.data,
            100.0 * row.noise,
            100.0 * row.by_30,
            100.0 * row.by_60,
            100.0 * row.by_80,
            100.0 * row.by_200,
        );
    }
    if rows.iter().all(simulate::Row::holds) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
