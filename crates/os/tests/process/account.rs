//! What commands cost, as counted by the kernel and told by the launcher.

use crate::support::{Program, launcher, output, sh, tiny};
use std::fs;
use underhood_os::process::{End, Spec};

const MIB: u64 = 1 << 20;

#[test]
fn the_peak_is_the_commands_own_also_after_a_large_one() {
    // Our own size must not show either.
    let ours = std::hint::black_box(vec![1_u8; 300 << 20]);
    let mut launcher = launcher();
    drop(ours);
    let (fat, tiny) = (Program::compile("fat", &[]), tiny());
    let large = launcher.run(&Spec::new(fat.path()).args(["200"])).unwrap().usage;
    let small = launcher.run(&Spec::new(tiny.path())).unwrap().usage;
    let large_peak = large.peak_rss_bytes.unwrap();
    assert!((200 * MIB..210 * MIB).contains(&large_peak), "{large:?}");
    assert!(!large.peak_rss_is_upper_bound);
    assert!(
        large.minor_faults.unwrap() + large.major_faults.unwrap() >= 100,
        "{large:?}"
    );
    assert!(small.peak_rss_bytes.unwrap() <= MIB, "{small:?}");
    assert!(launcher.peak_rss_floor() <= MIB, "{}", launcher.peak_rss_floor());
}

#[test]
fn cpu_time_is_the_commands_and_never_a_neighbours() {
    let mut launcher = launcher();
    let burn = launcher
        .run(&sh("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"))
        .unwrap()
        .usage;
    let rest = launcher
        .run(&Spec::new("/bin/sleep").args(["0.05"]))
        .unwrap()
        .usage;
    let cpu_ns = burn.cpu_ns.unwrap();
    assert!(cpu_ns > 10_000_000, "{burn:?}");
    assert!(cpu_ns >= burn.user_ns.unwrap() + burn.system_ns.unwrap());
    assert!(
        cpu_ns <= burn.wall_ns + 1_000_000,
        "one thread cannot use more than the time: {burn:?}"
    );
    assert!(rest.cpu_ns.unwrap() < cpu_ns / 2, "{rest:?}");
    assert!(rest.wall_ns >= 50_000_000, "{rest:?}");
    assert!(rest.runqueue_wait_ns.is_some());
}

#[test]
fn a_child_that_was_waited_for_counts() {
    let usage = launcher()
        .run(&sh(
            "sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'; exit 0",
        ))
        .unwrap()
        .usage;
    assert!(usage.cpu_ns.unwrap() > 10_000_000, "{usage:?}");
}

#[test]
fn voluntary_switches_are_counted() {
    let mut launcher = launcher();
    let count = |launcher: &mut underhood_os::process::Launcher, naps: u32| {
        let script = format!("for (1..{naps}) {{ select(undef, undef, undef, 0.001) }}");
        launcher
            .run(&Spec::new("perl").args(["-e", &script]))
            .unwrap()
            .usage
            .voluntary
            .unwrap()
    };
    let (few, many) = (count(&mut launcher, 10), count(&mut launcher, 60));
    // What the start costs is in both; reading the program from disk may add a few.
    assert!((40..=60).contains(&(many - few)), "{few} {many}");
}

#[test]
fn the_cpus_are_those_asked_for_and_do_not_stick() {
    let mut launcher = launcher();
    let allowed = |launcher: &mut underhood_os::process::Launcher, cpus| {
        let mut spec = Spec::new("grep").args(["Cpus_allowed_list", "/proc/self/status"]);
        spec.cpus = cpus;
        String::from_utf8(output(launcher, spec).1).unwrap()
    };
    let all = allowed(&mut launcher, None);
    let first: usize = all
        .trim_start_matches(|c: char| !c.is_ascii_digit())
        .chars()
        .take_while(char::is_ascii_digit)
        .collect::<String>()
        .parse()
        .unwrap();
    assert_eq!(
        allowed(&mut launcher, Some(vec![first])),
        format!("Cpus_allowed_list:\t{first}\n")
    );
    assert_eq!(allowed(&mut launcher, None), all);
}

#[test]
fn many_runs_leave_no_descriptor_and_no_zombie() {
    let mut launcher = launcher();
    let tiny = tiny();
    let spec = Spec::new(tiny.path());
    let parent = output(&mut launcher, sh("echo $PPID")).1;
    let pid: u32 = String::from_utf8(parent).unwrap().trim().parse().unwrap();
    let open = |pid: u32| fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count();
    launcher.run(&spec).unwrap();
    let (theirs, ours) = (open(pid), open(std::process::id()));
    for _ in 0..1000 {
        assert_eq!(launcher.run(&spec).unwrap().end, End::Exited(0));
    }
    assert_eq!(open(pid), theirs);
    // Other tests of this process open files meanwhile, though not hundreds.
    assert!(open(std::process::id()) < ours + 100);
    let left = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    assert_eq!(left, "");
    drop(launcher);
    assert!(
        !fs::exists(format!("/proc/{pid}")).unwrap(),
        "the launcher is reaped"
    );
}
