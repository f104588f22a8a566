//! What starting a command costs by way of the launcher, beside the barest loop there is.

use underhood_os::process::{Launcher, Spec};

use crate::support::{Program, launcher, tiny};

/// Medians in nanoseconds of a tiny program's wall time: by a bare vfork loop, by the launcher.
fn medians(launcher: &mut Launcher, rounds: usize) -> (u64, u64) {
    let (bare, tiny) = (Program::compile("bare", &[]), tiny());
    let mut spec = Spec::new(tiny.path());
    // As little as the bare loop passes.
    spec.env = Vec::new();
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    // In turns, so that both see the same weather.
    for _ in 0..rounds {
        let output = std::process::Command::new(bare.path())
            .arg("20")
            .arg(tiny.path())
            .output()
            .unwrap();
        assert!(output.status.success());
        theirs.extend(
            String::from_utf8(output.stdout)
                .unwrap()
                .lines()
                .map(|line| line.parse::<u64>().unwrap()),
        );
        ours.extend((0..20).map(|_| launcher.run(&spec).unwrap().usage.wall_ns));
    }
    let median = |mut values: Vec<u64>| {
        values.sort_unstable();
        values[values.len() / 2]
    };
    (median(theirs), median(ours))
}

#[test]
fn the_launcher_is_not_far_from_a_bare_loop() {
    let (bare, ours) = medians(&mut launcher(), 5);
    // Other tests run beside it: a coarse guard here, the figure in the next one.
    assert!(ours < bare * 2, "{ours} ns, bare {bare} ns");
}

#[test]
#[ignore = "a figure for a quiet machine; run with --ignored --nocapture"]
#[expect(clippy::print_stdout, reason = "the figure is the purpose")]
fn the_launcher_costs_at_most_fifteen_percent_more_than_a_bare_loop() {
    for mib in [0, 1024] {
        let held = std::hint::black_box(vec![1_u8; mib << 20]);
        let (bare, ours) = medians(&mut launcher(), 50);
        let ratio = ours as f64 / bare as f64;
        let mut launcher = launcher();
        let small = launcher.run(&Spec::new(tiny().path())).unwrap().usage;
        println!(
            "holding {mib} MiB: bare {bare} ns, launcher {ours} ns, ratio {ratio:.3}, peak {:?} (floor {})",
            small.peak_rss_bytes,
            launcher.peak_rss_floor()
        );
        assert!(ratio <= 1.15);
        drop(held);
    }
}
