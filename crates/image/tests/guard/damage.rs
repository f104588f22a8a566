//! Damaged templates, loaders and guards are refused, by whoever comes first.

use std::fs;
use std::process::Command;

use image::elf::guard::{Identity, Loader, Unfillable, fill};

use crate::support::{BASE, Guarded, LOADER, template, text, write_program};

#[test]
fn cut_templates_are_refused() {
    let plan = Guarded::probe().plan;
    let whole = template();
    // What follows the data are section headers, which nobody needs.
    let data_end = whole.len() - fill_tail(whole);
    for length in (0..data_end).step_by(97).chain([data_end - 1]) {
        let result = fill(&whole[..length], BASE, &plan);
        assert!(
            matches!(result, Err(Unfillable::Template(_))),
            "{length}: {result:?}"
        );
    }
    fill(&whole[..data_end], BASE, &plan).unwrap();
}

/// How much of a template follows its last segment.
fn fill_tail(template: &[u8]) -> usize {
    use object::LittleEndian as LE;
    use object::elf::{FileHeader64, PT_LOAD};
    use object::read::elf::{FileHeader, ProgramHeader};
    let header = FileHeader64::<LE>::parse(template).unwrap();
    let segments = header.program_headers(LE, template).unwrap();
    let last = segments
        .iter()
        .rfind(|segment| segment.p_type(LE) == PT_LOAD)
        .unwrap();
    template.len() - (last.p_offset(LE) + last.p_filesz(LE)) as usize
}

/// Whatever the bytes of the headers are: an error or a guard, never a panic, and no large one.
#[test]
fn damaged_templates_do_no_harm() {
    let plan = Guarded::probe().plan;
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..20_000 {
        let mut damaged = template().to_vec();
        for _ in 0..random.usize(1..4) {
            let at = random.usize(..0x190);
            let byte = random.u8(..);
            damaged[at] = random.choice([0, 1, 0x7f, 0x80, 0xff, byte]).unwrap();
        }
        if let Ok(filled) = fill(&damaged, BASE, &plan) {
            assert!(filled.bytes.len() < 4_000_000);
        }
    }
}

#[test]
fn a_filled_guard_is_no_template() {
    let plan = Guarded::probe().plan;
    let filled = fill(template(), BASE, &plan).unwrap();
    assert!(matches!(
        fill(&filled.bytes, BASE, &plan),
        Err(Unfillable::Template(_))
    ));
}

#[test]
fn damaged_loaders_do_no_harm() {
    let loader = fs::read(LOADER).unwrap();
    let mut random = fastrand::Rng::with_seed(8);
    for _ in 0..20_000 {
        let mut damaged = loader[..1024].to_vec();
        let at = random.usize(..0x300);
        damaged[at] = random.u8(..);
        // Cut: its segments lie outside of it.
        Loader::read(LOADER, Identity::default(), &damaged).unwrap_err();
    }
    assert!(matches!(
        Loader::read("/bin/sh", Identity::default(), b"#!"),
        Err(Unfillable::Loader(_))
    ));
}

/// Of a guard that was cut the kernel does not find the program headers: nothing starts.
#[test]
fn a_cut_guard_does_not_start() {
    let probe = Guarded::filled();
    let whole = fs::read(&probe.guard).unwrap();
    for length in [0, 64, 4096, whole.len() / 2, whole.len() - 300, whole.len() - 1] {
        write_program(&probe.guard, &whole[..length]);
        let error = Command::new(&probe.copy).status();
        assert!(error.is_err(), "cut to {length}: {error:?}");
    }
}

/// A plan that is not as it should be ends with a message.
#[test]
fn a_damaged_plan_is_noticed() {
    let probe = Guarded::filled();
    let whole = fs::read(&probe.guard).unwrap();
    let magic = 0x756e_6465_7267_0001_u64.to_le_bytes();
    let plan = whole
        .windows(8)
        .rposition(|window| window == magic)
        .expect("a plan");
    // Format; length; the text of the original; offset and number of rows of the watched files.
    for (word, value) in [
        (0, 0),
        (1, 0),
        (1, 8),
        (1, 400),
        (2, u64::MAX),
        (2, 5 << 32),
        (18, u64::MAX),
        (18, 1 << 16),
        (19, 1 << 60),
        (19, 100_000),
    ] {
        let mut damaged = whole.clone();
        damaged[plan + 8 * word..][..8].copy_from_slice(&u64::to_le_bytes(value));
        write_program(&probe.guard, &damaged);
        let output = probe.run(&[]);
        assert_eq!(output.status.code(), Some(127), "{word} {value:#x}: {output:?}");
        assert!(text(&output.stderr).contains("is damaged"), "{output:?}");
    }
}
