//! Threads that work together for one sample.
//!
//! Two ways of counting time. [`with_start`] is the first article's: thread start and join lie inside. [`together`]
//! lets every thread prepare first, starts all at once, and counts from the first start to the last end.
//! Each thread reads its own counters at its end: what the kernel knows of a thread is gone with it.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{io, thread};

use measure::trial::{Sample, TrialError};
use os::clock::Clock;
use os::counters::ThreadCounters;

/// Stack of a worker thread: enough for any benchmark, small enough for a thousand threads.
const STACK: usize = 256 << 10;

fn spawn_failed(index: u64, error: io::Error) -> TrialError {
    TrialError::System(
        format!(
            "start thread {}; the limits are those of ulimit -u and of the memory",
            index + 1
        ),
        error,
    )
}

/// Waiting time of the calling thread so far; `u64::MAX` stands for unknown.
fn waited() -> u64 {
    ThreadCounters::read()
        .ok()
        .and_then(|counters| counters.runqueue_wait_ns)
        .unwrap_or(u64::MAX)
}

fn sum_waited(total: &AtomicU64, waited: u64) {
    if waited == u64::MAX {
        total.store(u64::MAX, Ordering::Relaxed);
    } else {
        let _ = total.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |sum| {
            sum.checked_add(waited)
        });
    }
}

fn known(total: &AtomicU64) -> Option<u64> {
    Some(total.load(Ordering::Relaxed)).filter(|&sum| sum != u64::MAX)
}

/// Starts `threads` threads, lets each do `work` (which returns how many operations it verified), and joins them;
/// all of this is inside the time.
pub fn with_start(
    clock: Clock,
    threads: u64,
    operations_each: u64,
    work: impl Fn(u64) -> u64 + Sync,
) -> Result<Sample, TrialError> {
    let verified = AtomicU64::new(0);
    let total_wait = AtomicU64::new(0);
    let body = |index| {
        verified.fetch_add(work(index), Ordering::Relaxed);
        sum_waited(&total_wait, waited());
    };
    let start = clock.now();
    thread::scope(|scope| {
        for index in 0..threads {
            let body = &body;
            let spawned = thread::Builder::new()
                .stack_size(STACK)
                .spawn_scoped(scope, move || body(index));
            spawned.map_err(|error| spawn_failed(index, error))?;
        }
        Ok::<(), TrialError>(())
    })?;
    let end = clock.now();
    Ok(Sample {
        elapsed_ns: clock.ns(start, end),
        threads,
        operations: threads.saturating_mul(operations_each),
        verified: verified.into_inner(),
        waited_ns: known(&total_wait),
    })
}

/// Every thread makes its state with `prepare`; all start together; `work` returns how many operations it verified.
/// Dropping the state is outside the time.
pub fn together<S>(
    clock: Clock,
    threads: u64,
    operations_each: u64,
    prepare: impl Fn(u64) -> Result<S, TrialError> + Sync,
    work: impl Fn(&mut S) -> u64 + Sync,
) -> Result<Sample, TrialError> {
    let ready = Barrier::new(threads as usize);
    let total_wait = AtomicU64::new(0);
    let body = |index: u64| -> Result<(u64, u64, u64), TrialError> {
        let state = prepare(index);
        ready.wait();
        let mut state = state?;
        let waited_before = waited();
        let start = clock.now();
        let verified = work(&mut state);
        let end = clock.now();
        let waited_after = waited();
        sum_waited(
            &total_wait,
            if waited_before == u64::MAX {
                u64::MAX
            } else {
                waited_after - waited_before
            },
        );
        Ok((start, end, verified))
    };
    let results: Vec<_> = if threads == 1 {
        // The calling thread works itself: a second one would end the C library's single-threaded shortcuts.
        vec![body(0)]
    } else {
        run_all(threads, &ready, &body)?
    };
    let (mut start, mut end, mut verified) = (u64::MAX, 0, 0);
    for result in results {
        let (began, ended, done) = result?;
        start = start.min(began);
        end = end.max(ended);
        verified += done;
    }
    Ok(Sample {
        elapsed_ns: clock.ns(start, end),
        threads,
        operations: threads.saturating_mul(operations_each),
        verified,
        waited_ns: known(&total_wait),
    })
}

type Outcome = Result<(u64, u64, u64), TrialError>;

fn run_all(
    threads: u64,
    ready: &Barrier,
    body: &(impl Fn(u64) -> Outcome + Sync),
) -> Result<Vec<Outcome>, TrialError> {
    thread::scope(|scope| {
        let mut handles = Vec::new();
        for index in 0..threads {
            let spawned = thread::Builder::new()
                .stack_size(STACK)
                .spawn_scoped(scope, move || body(index));
            match spawned {
                Ok(handle) => handles.push(handle),
                Err(error) => {
                    // Those that stand at the barrier must be let through before anybody can be joined.
                    for _ in index..threads {
                        scope.spawn(|| ready.wait());
                    }
                    return Err(spawn_failed(index, error));
                }
            }
        }
        Ok(handles
            .into_iter()
            .map(|handle| {
                handle.join().unwrap_or_else(|_| {
                    Err(TrialError::Verification(
                        "a thread of the benchmark panicked".to_owned(),
                    ))
                })
            })
            .collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_works_once() {
        for threads in [1, 2, 70] {
            let sample = with_start(Clock::choose(), threads, 5, |_| 5).unwrap();
            assert_eq!((sample.operations, sample.verified), (5 * threads, 5 * threads));
            let sample = together(Clock::choose(), threads, 5, Ok, |index| 5 + *index - *index).unwrap();
            assert_eq!((sample.operations, sample.verified), (5 * threads, 5 * threads));
            assert!(sample.elapsed_ns > 0.0);
        }
    }

    #[test]
    fn a_failed_preparation_fails_the_sample_and_hangs_nobody() {
        let fail = |index| {
            if index == 1 {
                Err(TrialError::Case("no".to_owned()))
            } else {
                Ok(index)
            }
        };
        assert!(together(Clock::choose(), 4, 1, fail, |_| 1).is_err());
    }
}
