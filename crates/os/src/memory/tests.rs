use std::io::{Read, Seek, SeekFrom, Write};

use super::*;

#[test]
fn sizes_make_sense() {
    assert!(page_size().is_power_of_two() && page_size() >= 4096);
    let total = total_bytes().unwrap();
    let available = available_bytes().unwrap();
    assert!(total > 64 << 20, "{total}");
    assert!(available <= total, "{available} of {total}");
}

#[test]
fn what_is_written_can_be_read_back() {
    let mut file = capped_file(1 << 20).unwrap();
    assert_eq!(written_len(&file).unwrap(), 0);
    file.write_all(b"hello").unwrap();
    let mut other = file.try_clone().unwrap();
    other.write_all(b", world").unwrap();
    assert_eq!(written_len(&file).unwrap(), 12);
    file.seek(SeekFrom::Start(0)).unwrap();
    let mut text = String::new();
    file.take(12).read_to_string(&mut text).unwrap();
    assert_eq!(text, "hello, world");
}

#[cfg(target_os = "linux")]
#[test]
fn a_flood_gets_an_error_and_the_cap_holds() {
    let mut file = capped_file(10_000).unwrap();
    let error = loop {
        if let Err(error) = file.write_all(&[b'x'; 1000]) {
            break error;
        }
    };
    assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    let written = written_len(&file).unwrap();
    assert!((9_000..=10_000).contains(&written), "{written}");
    assert_eq!(file.metadata().unwrap().len(), 10_000);
    assert!(file.set_len(0).is_err(), "the file could be shrunk");
}

#[cfg(target_os = "linux")]
#[test]
fn a_program_that_opens_its_output_anew_is_noticed() {
    use std::process::{Command, Stdio};
    let file = capped_file(1 << 20).unwrap();
    let script = "printf '%5000s' x >/dev/stdout";
    let status = Command::new("sh")
        .args(["-c", script])
        .stdout(file.try_clone().unwrap())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    // The shell opens with O_TRUNC, which the seal refuses; `dd conv=notrunc` does not.
    assert!(!status.success());
    let status = Command::new("sh")
        .args([
            "-c",
            "printf '%5000s' x | dd of=/dev/stdout conv=notrunc status=none",
        ])
        .stdout(file.try_clone().unwrap())
        .status()
        .unwrap();
    assert!(status.success());
    assert_eq!(written_len(&file).unwrap(), 5000);
}
