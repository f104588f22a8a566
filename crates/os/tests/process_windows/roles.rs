//! The commands that the tests start: this very program in one of these roles.
//!
//! There is no compiler on the machine to make small programs with. The test harness takes a role's arguments for
//! names of tests to run; since only [`play`] is marked as ignored, and ignored ones are asked for, that is harmless.
#![expect(clippy::print_stdout, reason = "what a command writes is tested")]
#![expect(
    clippy::disallowed_methods,
    reason = "a role is a whole process, and its end is part of it"
)]

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::process::Command;
use std::time::{Duration, Instant};

use underhood_os::counters::ProcessCounters;
use underhood_os::process::Spec;

/// The variable that names the role.
const ROLE: &str = "UNDERHOOD_TEST_ROLE";
/// What the harness is told; the role's own arguments follow.
const HARNESS: [&str; 5] = [
    "--ignored",
    "--nocapture",
    "--test-threads=1",
    "roles::play",
    "--",
];
/// What the role writes ends the harness's own words.
pub const BEGIN: &str = "role begins\n";

/// This program in `role`.
pub fn role(role: &str, args: &[&str]) -> Spec {
    let mut spec = Spec::new(std::env::current_exe().unwrap()).args(HARNESS.iter().chain(args).copied());
    spec.env.push((ROLE.into(), role.into()));
    spec
}

/// Plays the role that the environment names, to the end of the process.
#[test]
#[ignore = "started by other tests"]
fn play() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let args: Vec<String> = std::env::args().skip(1 + HARNESS.len()).collect();
    print!("{BEGIN}");
    act(&role, &args);
    std::io::stdout().flush().unwrap();
    std::process::exit(0);
}

fn act(role: &str, args: &[String]) {
    let number = || {
        args.first()
            .and_then(|text| text.parse::<u64>().ok())
            .unwrap_or(0)
    };
    match role {
        "arguments" => args.iter().for_each(|argument| println!("[{argument}]")),
        "variable" => println!("{:?} {:?}", std::env::var("ODD"), std::env::var("LOST")),
        "directory" => println!("{}", std::env::current_dir().unwrap().display()),
        "copy" => {
            let mut text = Vec::new();
            std::io::stdin().read_to_end(&mut text).unwrap();
            std::io::stdout().write_all(&text).unwrap();
        }
        "touch" => {
            let memory = std::hint::black_box(vec![1_u8; (number() as usize) << 20]);
            assert!(memory.iter().step_by(4096).all(|byte| *byte == 1));
        }
        // By its own count, since a busy machine gives less than the time that passes.
        "burn" => {
            while ProcessCounters::read().unwrap().cpu_ns < number() * 1_000_000 {
                let end = Instant::now() + Duration::from_millis(5);
                while Instant::now() < end {
                    std::hint::spin_loop();
                }
            }
        }
        "crash" => std::process::abort(),
        "threads" => (0..number()).for_each(|_| std::thread::spawn(|| ()).join().unwrap()),
        // Writes a sign of life into a file again and again.
        "beat" => loop {
            let mut file = OpenOptions::new()
                .append(true)
                .create(true)
                .open(&args[0])
                .unwrap();
            file.write_all(b".").unwrap();
            std::thread::sleep(Duration::from_millis(20));
        },
        // Starts a child that beats, and waits for it, or leaves it running when there is a second argument.
        "parent" => {
            let mut child = Command::new(std::env::current_exe().unwrap())
                .args(HARNESS)
                .env(ROLE, "beat")
                .arg(&args[0])
                .spawn()
                .unwrap();
            while std::fs::metadata(&args[0]).map_or(0, |meta| meta.len()) == 0 {
                std::thread::sleep(Duration::from_millis(5));
            }
            if args.len() < 2 {
                child.wait().unwrap();
            }
            std::process::exit(5);
        }
        _ => panic!("unknown role {role}"),
    }
}
