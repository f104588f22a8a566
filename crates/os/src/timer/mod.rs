//! A loop that runs for a fixed time needs someone to tell it to stop.
//!
//! The obvious someone, a second thread that sleeps, changes what is measured: glibc leaves out atomic
//! instructions and locks as long as a process has one thread (a mutex pair costs 6 ns, and 17 ns from the
//! moment a second thread exists). So on Linux the flag is cleared by a signal of a kernel timer, delivered to the
//! measuring thread itself. On Windows the C library has no such shortcut and a timer queue's thread does it.
//!
//! Contract of the platform files: `Timer::arm(flag, after)` clears `flag` once, not before `after` has passed;
//! after the `Timer` has been dropped the flag is not touched any more.

use std::io;
use std::marker::PhantomData;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod imp;

/// Clears a flag after a time, without a second thread on Linux.
///
/// Dropping the timer disarms it. It must be dropped by the thread that armed it (it is not `Send`), because that is
/// what guarantees that no late signal clears the flag of the next loop.
///
/// On Linux the signal interrupts blocking calls of that thread (they are restarted where
/// signal(7) allows it), so a benchmark that blocks should use a controlling thread instead.
#[derive(Debug)]
pub struct FlagTimer {
    _timer: imp::Timer,
    _not_send: PhantomData<*const ()>,
}

impl FlagTimer {
    /// Arranges that `flag` becomes `false` once `after` has passed (a zero counts as one nanosecond).
    ///
    /// # Errors
    /// The system's error when it has no timer left (Linux: the limit of pending signals, timer_create(2);
    /// Windows: memory).
    pub fn arm(flag: &'static AtomicBool, after: Duration) -> io::Result<Self> {
        let timer = imp::Timer::arm(flag, after.max(Duration::from_nanos(1)))?;
        Ok(Self {
            _timer: timer,
            _not_send: PhantomData,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;
    use std::thread;
    use std::time::Instant;

    use super::*;

    #[test]
    fn clears_the_flag_after_the_time_and_not_before() {
        static RUNNING: AtomicBool = AtomicBool::new(true);
        let begin = Instant::now();
        let timer = FlagTimer::arm(&RUNNING, Duration::from_millis(20)).unwrap();
        while RUNNING.load(Relaxed) {
            assert!(
                begin.elapsed() < Duration::from_secs(10),
                "the flag was never cleared"
            );
            std::hint::spin_loop();
        }
        // Windows counts in ticks of its own, so it may come up to one tick early.
        assert!(
            begin.elapsed() >= Duration::from_millis(4),
            "cleared after {:?}",
            begin.elapsed()
        );
        drop(timer);
    }

    #[test]
    fn a_dropped_timer_leaves_the_flag_alone() {
        static RUNNING: AtomicBool = AtomicBool::new(true);
        drop(FlagTimer::arm(&RUNNING, Duration::from_millis(10)).unwrap());
        thread::sleep(Duration::from_millis(40));
        assert!(RUNNING.load(Relaxed));
    }

    #[test]
    fn many_timers_one_after_the_other() {
        static RUNNING: AtomicBool = AtomicBool::new(true);
        for _ in 0..200 {
            RUNNING.store(true, Relaxed);
            let _timer = FlagTimer::arm(&RUNNING, Duration::from_micros(50)).unwrap();
            let begin = Instant::now();
            while RUNNING.load(Relaxed) {
                assert!(
                    begin.elapsed() < Duration::from_secs(10),
                    "the flag was never cleared"
                );
            }
        }
    }

    #[test]
    fn a_zero_time_clears_at_once() {
        static RUNNING: AtomicBool = AtomicBool::new(true);
        let begin = Instant::now();
        let _timer = FlagTimer::arm(&RUNNING, Duration::ZERO).unwrap();
        while RUNNING.load(Relaxed) {
            assert!(
                begin.elapsed() < Duration::from_secs(10),
                "the flag was never cleared"
            );
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn no_thread_is_added() {
        static RUNNING: AtomicBool = AtomicBool::new(true);
        // Other tests of this process start and end threads meanwhile, so a single difference proves nothing; the
        // names do: a timer thread would carry the name of the thread that made it.
        let named = |name: &str| {
            std::fs::read_dir("/proc/self/task")
                .unwrap()
                .filter_map(Result::ok)
                .filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok())
                .filter(|comm| comm.trim() == name)
                .count()
        };
        thread::Builder::new()
            .name("flag-owner".to_owned())
            .spawn(move || {
                let _timer = FlagTimer::arm(&RUNNING, Duration::from_millis(30)).unwrap();
                assert_eq!(named("flag-owner"), 1);
            })
            .unwrap()
            .join()
            .unwrap();
    }
}
