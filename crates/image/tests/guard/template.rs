//! What the template promises, and that a filled one keeps it.

use std::process::Command;

use image::elf::guard::{Fill, Floating, Identity, Plan, Renamed, fill, places};
use object::LittleEndian as LE;
use object::elf;
use object::read::elf::{Dyn, FileHeader, ProgramHeader};

use crate::support::{BASE, Guarded, template, text, write_program};

#[test]
fn it_needs_nobody_and_no_relocation() {
    let header = elf::FileHeader64::<LE>::parse(template()).unwrap();
    let segments = header.program_headers(LE, template()).unwrap();
    assert!(
        segments
            .iter()
            .all(|segment| segment.p_type(LE) != elf::PT_INTERP)
    );
    for segment in segments {
        for entry in segment.dynamic(LE, template()).unwrap().unwrap_or_default() {
            let tag = entry.tag(LE);
            assert!(
                ![elf::DT_NEEDED, elf::DT_RELA, elf::DT_RELR, elf::DT_JMPREL].contains(&tag),
                "{tag:?}"
            );
        }
    }
    let last = segments
        .iter()
        .rfind(|segment| segment.p_type(LE) == elf::PT_LOAD);
    assert!(
        last.unwrap().p_flags(LE).contains(elf::PF_W),
        "the data comes last"
    );
}

#[test]
fn it_is_small() {
    assert!(template().len() < 40_000, "{} bytes", template().len());
}

#[test]
fn each_stub_calls_with_its_number() {
    let header = elf::FileHeader64::<LE>::parse(template()).unwrap();
    let segments = header.program_headers(LE, template()).unwrap();
    let places = places(template(), BASE).unwrap();
    for object in [0, 1, 500, 1023] {
        let address = places.stub(object).unwrap() - BASE;
        let code = segments
            .iter()
            .find_map(|segment| {
                segment
                    .data_range(LE, template(), address, 16)
                    .unwrap_or_default()
            })
            .unwrap();
        // endbr64; mov edi, NUMBER; jmp
        assert_eq!(code[..5], [0xf3, 0x0f, 0x1e, 0xfa, 0xbf]);
        assert_eq!(code[5..9], (object as u32).to_le_bytes());
        assert_eq!(code[9], 0xe9);
    }
    assert_eq!(places.stub(1024), None);
}

/// The copies have these addresses in them before there is anything to be identified.
#[test]
fn addresses_do_not_depend_on_identities() {
    let mut probe = Guarded::probe().plan;
    probe.fills = vec![
        vec![
            Fill {
                slot: 8,
                floating: 0,
                value: 8,
                ifunc: true
            };
            3
        ];
        2
    ];
    probe.floating = vec![Floating {
        names: vec!["a".into(), "bc".into()],
        dynamic: 16,
    }];
    probe.renamed = vec![Renamed {
        copy: "/a".into(),
        original: "/b".into(),
        identities: None,
    }];
    let with = fill(template(), BASE, &probe).unwrap();
    for (_, identity) in &mut probe.watched {
        *identity = Identity::default();
    }
    probe.renamed[0].identities = Some((Identity::default(), Identity::default()));
    let without = fill(template(), BASE, &probe).unwrap();
    assert_eq!(
        (with.end, with.scratch, with.bytes.len(), &with.stubs),
        (without.end, without.scratch, without.bytes.len(), &without.stubs)
    );
    let places = places(template(), BASE).unwrap();
    assert_eq!(with.scratch, places.scratch);
    assert_eq!(with.stubs, [places.stub(0).unwrap(), places.stub(1).unwrap()]);
    assert!(with.end > with.scratch && with.end.is_multiple_of(4096));
}

#[test]
fn a_filled_guard_lies_between_its_base_and_its_end() {
    let filled = fill(template(), BASE, &Guarded::probe().plan).unwrap();
    let header = elf::FileHeader64::<LE>::parse(&*filled.bytes).unwrap();
    assert_eq!(header.e_type(LE), elf::ET_EXEC);
    let mut end = BASE;
    for segment in header.program_headers(LE, &*filled.bytes).unwrap() {
        if segment.p_type(LE) == elf::PT_LOAD {
            assert!(segment.p_vaddr(LE) >= end);
            assert_eq!(segment.p_filesz(LE), segment.p_memsz(LE));
            end = segment.p_vaddr(LE) + segment.p_memsz(LE);
        }
    }
    assert_eq!(filled.end, end.next_multiple_of(4096));
}

#[test]
fn it_says_that_it_is_no_program() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("template");
    write_program(&path, template());
    let output = Command::new(path).output().unwrap();
    assert_eq!(output.status.code(), Some(127));
    assert!(text(&output.stderr).contains("no program"), "{output:?}");
}

#[test]
fn plans_that_contradict_themselves_are_refused() {
    let plan = Plan::default();
    let object = Floating {
        names: vec!["a".into()],
        dynamic: 0,
    };
    let one = Fill {
        slot: 8,
        floating: 0,
        value: 0,
        ifunc: false,
    };
    let refused = [
        Plan {
            original: "a\0b".into(),
            ..plan.clone()
        },
        Plan {
            fills: vec![vec![one]],
            ..plan.clone()
        },
        Plan {
            fills: vec![vec![Fill { slot: 1 << 48, ..one }]],
            floating: vec![object.clone()],
            ..plan.clone()
        },
        Plan {
            fills: vec![Vec::new(); 1025],
            ..plan.clone()
        },
        Plan {
            floating: vec![object; 65],
            ..plan.clone()
        },
    ];
    for plan in refused {
        fill(template(), BASE, &plan).unwrap_err();
    }
    for base in [0, 1, BASE + 1, 1 << 47, (1 << 47) - 4096, u64::MAX - 4095] {
        fill(template(), base, &plan).unwrap_err();
    }
}
