//! Facts about the host of a run, so that a figure is never read without its machine.

/// The clock that timed the benchmarks.
#[derive(Clone, Debug, PartialEq)]
pub struct ClockFacts {
    /// For example `tsc` or `clock_gettime(CLOCK_MONOTONIC)`.
    pub name: String,
    /// Smallest difference that the clock can show, in nanoseconds.
    pub resolution_ns: f64,
    /// Cost of one reading, in nanoseconds.
    pub cost_ns: f64,
    /// Why this clock was chosen.
    pub reason: String,
}

/// What is known of the host. Unknown facts are absent, never guessed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Environment {
    /// Named facts in the order in which they are to be shown: `os`, `kernel`, `distribution`, `libc`,
    /// `cpu_model`, `cpus`, `memory_bytes`, `virtualised`, `wine`, …
    pub facts: Vec<(String, String)>,
    /// The benchmark clock, when one was chosen.
    pub clock: Option<ClockFacts>,
}

impl Environment {
    /// One fact by name.
    #[must_use]
    pub fn fact(&self, name: &str) -> Option<&str> {
        self.facts
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// The name of the Wine version, when the figures come from Wine and not from Windows.
    #[must_use]
    pub fn wine(&self) -> Option<&str> {
        self.fact("wine")
    }
}
