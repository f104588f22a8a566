//! What the library around a heap costs: nearly nothing.
//!
//! What a library costs is the fastest of hundreds of short batches in several fresh processes, run in turn: the batch
//! that nobody disturbed, at the processor's full speed. (While another thread uses the same core, all of them take a
//! quarter longer and so do the differences.) What a lock costs, where the disturbance is the point, is a median.
//!
//! The tests in the normal run only refuse what could not be noise; `cargo test -- --ignored` on a quiet machine holds
//! the real limits.

use std::path::Path;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

use underhood_shim_tests::REPLACING;
use underhood_shim_tests::SHIM_FOLDER;
use underhood_shim_tests::Way;
use underhood_shim_tests::compile;
use underhood_shim_tests::say;
use underhood_shim_tests::timed;

/// The harness runs tests at the same time, and these disturb each other: each takes the machine for itself.
fn alone() -> MutexGuard<'static, ()> {
    static MACHINE: Mutex<()> = Mutex::new(());
    MACHINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The library file of a heap's C code, from the folders of its build script.
fn static_library(name: &str) -> Option<PathBuf> {
    let build = SHIM_FOLDER.join("build");
    std::fs::read_dir(build).ok()?.flatten().find_map(|folder| {
        ["out", "out/lib"]
            .iter()
            .map(|within| folder.path().join(within).join(name))
            .find(|path| path.exists())
    })
}

/// `pairs.c` with a heap linked in, called by its own names.
fn linked(heap: &str) -> Option<PathBuf> {
    let (library, prefix) = match heap {
        "mimalloc" => ("libmimalloc.a", "mi_"),
        "jemalloc" => ("libjemalloc_pic.a", "_rjem_"),
        _ => ("libsnmallocshim-rust.a", "sn_"),
    };
    let library = static_library(library)?.display().to_string();
    let names = [format!("-DMALLOC={prefix}malloc"), format!("-DFREE={prefix}free")];
    Some(compile(
        "pairs.c",
        &[&names[0], &names[1], &library, "-ldl", "-lm", "-latomic"],
    ))
}

/// Nanoseconds per pair in the fastest batch.
fn fastest(way: &Way, program: &Path, arguments: &[&str]) -> f64 {
    let said = way.output_of(program, arguments);
    said.split(' ')
        .next()
        .and_then(|field| field.parse().ok())
        .expect("the program prints a time")
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The fastest batches of several subjects, run in turn.
fn in_turn(subjects: &[(Way, PathBuf)], arguments: &[&str], rounds: usize) -> Vec<f64> {
    let mut times = vec![f64::INFINITY; subjects.len()];
    for _ in 0..rounds {
        for (times, (way, program)) in times.iter_mut().zip(subjects) {
            *times = times.min(fastest(way, program, arguments));
        }
    }
    times
}

/// Each heap: linked in, preloaded, through the selector. Gives the two differences in ns per pair.
fn costs(rounds: usize) -> Vec<(&'static str, f64, f64)> {
    let dynamic = compile("pairs.c", &[]);
    REPLACING
        .into_iter()
        .filter_map(|heap| {
            let subjects = [
                (Way::plain(), linked(heap)?),
                (Way::heap(heap), dynamic.clone()),
                (Way::selected(&format!("*={heap}")), dynamic.clone()),
            ];
            let times = in_turn(&subjects, &["1", "300", "2048"], rounds);
            let [linked, preloaded, selected] = times[..] else {
                unreachable!("three subjects")
            };
            say(&format!(
                "{heap}: linked {linked:.2}, preloaded {preloaded:.2}, selected {selected:.2} ns per pair"
            ));
            Some((heap, preloaded - linked, selected - preloaded))
        })
        .collect()
}

#[test]
fn preloading_and_selecting_are_nearly_free() {
    let _alone = alone();
    for (heap, preloading, selecting) in costs(7) {
        assert!(
            preloading < 15.0,
            "{heap}: preloading costs {preloading:.2} ns per pair"
        );
        assert!(
            selecting < 15.0,
            "{heap}: selecting costs {selecting:.2} ns per pair"
        );
    }
}

#[test]
#[ignore = "needs a quiet machine"]
fn preloading_costs_2_ns_and_selecting_3_ns_at_most() {
    let _alone = alone();
    for (heap, preloading, selecting) in costs(25) {
        assert!(
            preloading <= 2.0,
            "{heap}: preloading costs {preloading:.2} ns per pair"
        );
        assert!(
            selecting <= 3.0,
            "{heap}: selecting costs {selecting:.2} ns per pair"
        );
    }
}

/// Nanoseconds per pair in the median batch, on two threads.
fn on_two_threads(way: &Way, rounds: &str) -> f64 {
    let program = compile("pairs.c", &[]);
    let said = way.output_of(program, &["2", "20", rounds]);
    said.trim()
        .split(' ')
        .nth(1)
        .and_then(|field| field.parse().ok())
        .expect("the program prints a time")
}

fn disease(repeats: usize) -> [f64; 4] {
    let mut times: [Vec<f64>; 4] = Default::default();
    for _ in 0..repeats {
        let best = REPLACING.map(|heap| on_two_threads(&Way::heap(heap), "20000"));
        times[0].push(
            best.into_iter()
                .fold(on_two_threads(&Way::plain(), "20000"), f64::min),
        );
        times[1].push(on_two_threads(&Way::heap("single_lock"), "20000"));
        times[2].push(on_two_threads(&Way::heap("single_lock_spin"), "20000"));
        times[3].push(on_two_threads(&Way::heap("single_lock_kernel"), "200"));
    }
    let result = times.map(median);
    say(&format!(
        "2 threads: best heap, single_lock, _spin, _kernel: {result:.0?} ns per pair"
    ));
    result
}

#[test]
fn a_kernel_lock_is_the_slowest_and_any_lock_slower_than_none() {
    let _alone = alone();
    let [best, sleeping, spinning, kernel] = disease(3);
    assert!(best < sleeping && best < spinning, "a lock costs something");
    assert!(kernel > sleeping, "a lock in the kernel costs more");
}

#[test]
#[ignore = "needs two quiet CPUs"]
fn one_lock_makes_two_threads_eight_times_slower() {
    let _alone = alone();
    let [best, sleeping, _, kernel] = disease(15);
    assert!(
        sleeping >= 8.0 * best,
        "single_lock {sleeping:.0} against {best:.0} ns"
    );
    assert!(kernel > sleeping);
}

/// Start-up is only printed: it depends on the machine.
#[test]
fn short_processes() {
    let _alone = alone();
    let time = |way: &Way| {
        median(
            (0..15)
                .map(|_| timed(|| drop(way.run("true", &[]))).as_secs_f64() * 1e6)
                .collect(),
        )
    };
    let plain = time(&Way::plain());
    for way in REPLACING
        .map(Way::heap)
        .into_iter()
        .chain([Way::selected("*=system"), Way::selected("*=mimalloc")])
    {
        say(&format!(
            "{}: start-up takes {:.2} times as long",
            way.name,
            time(&way) / plain
        ));
    }
}
