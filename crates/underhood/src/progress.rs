//! Progress on standard error: one line with the time that remains, for anything over two seconds, when somebody looks.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Nothing is drawn before this time has passed.
const PATIENCE: Duration = Duration::from_secs(2);

/// A line of progress; invisible when standard error is no terminal or the user wants quiet.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    start: Instant,
    visible: bool,
}

impl Progress {
    /// A line that may appear.
    pub fn new(quiet: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::hidden());
        let style =
            ProgressStyle::with_template("{bar:24} {msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style);
        Self {
            bar,
            start: Instant::now(),
            visible: !quiet && std::io::stderr().is_terminal(),
        }
    }

    /// Shows the share done (0 to 1), the remaining time, and what is going on.
    pub fn tell(&self, share: f64, remaining: Duration, what: &str) {
        if !self.visible || self.start.elapsed() < PATIENCE {
            return;
        }
        if self.bar.is_hidden() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
        }
        self.bar.set_position((1000.0 * share.clamp(0.0, 1.0)) as u64);
        self.bar.set_message(format!("{} left  {what}", human(remaining)));
    }

    /// Takes the line away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

fn human(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds >= 60 {
        format!("{} min {:02} s", seconds / 60, seconds % 60)
    } else {
        format!("{seconds:2} s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        assert_eq!(human(Duration::from_secs(7)), " 7 s");
        assert_eq!(human(Duration::from_secs(125)), "2 min 05 s");
    }
}
