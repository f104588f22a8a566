//! REBASE and BIND, judged by the loader: nothing is moved afterwards, nothing is looked up, and every address is what it would be
//! without them.

use image::pe::bind::{self, Reason, bind};
use image::pe::loader::check::check;
use image::pe::loader::{Counts, Loaded, Options, Plan};
use image::pe::rebase::{self, Rebased, rebase};
use image::pe::{File, View, checksum};

use crate::sample::{Offer, Sample, Take, borrowed, set};

type Files = Vec<(&'static str, Vec<u8>)>;

fn load(files: &Files, options: Options) -> Loaded {
    let plan = Plan::new(borrowed(files), "app.exe", options).unwrap();
    let loaded = plan.load().unwrap();
    let checked = check(&plan, &loaded).unwrap();
    assert_eq!(checked.differences, Vec::<String>::new());
    loaded
}

fn counts(files: &Files) -> Counts {
    load(files, Options::default()).counts
}

fn rebased(files: &Files, options: &rebase::Options) -> Files {
    named(files, rebase(borrowed(files), options).unwrap())
}

fn named(files: &Files, rebased: Vec<Rebased>) -> Files {
    files
        .iter()
        .zip(rebased)
        .map(|((name, _), file)| (*name, file.bytes))
        .collect()
}

fn bound(files: &Files) -> Files {
    let bound = bind(borrowed(files), bind::Options::default()).unwrap();
    files
        .iter()
        .zip(bound)
        .map(|((name, _), file)| (*name, file.bytes))
        .collect()
}

/// The slots of all modules, as they are after a load.
fn slots(files: &Files, loaded: &Loaded) -> Vec<u64> {
    let mut found = Vec::new();
    for module in &loaded.modules {
        let file = File::read(&files[module.file].1).unwrap();
        let wide = file.headers.wide;
        let width = if wide { 8 } else { 4 };
        for import in file.imports().unwrap() {
            for index in 0..import.symbols.len() as u32 {
                let rva = import.descriptor.slots + index * width;
                found.push(module.image.word(rva, wide).unwrap());
            }
        }
    }
    found
}

fn new_stamp() -> rebase::Options {
    rebase::Options {
        stamp: Some(77),
        ..rebase::Options::default()
    }
}

#[test]
fn a_rebased_set_moves_nothing() {
    for wide in [true, false] {
        for down in [false, true] {
            let files = set(wide);
            let options = rebase::Options {
                down,
                room: 0x10_0000,
                exclude: vec![0x1_8000_0000..0x1_8123_4567, 0x1000_0000..0x1123_4567],
                ..new_stamp()
            };
            let results = rebase(borrowed(&files), &options).unwrap();
            for pair in results.windows(2) {
                assert!(pair[0].to.abs_diff(pair[1].to) >= 0x11_0000);
                assert_eq!(pair[0].to < pair[1].to, !down);
            }
            for file in &results {
                let headers = File::read(&file.bytes).unwrap().headers;
                assert_eq!((headers.base, headers.stamp), (file.to, 77));
                assert_eq!(
                    headers.checksum,
                    checksum::of(&file.bytes, headers.places.checksum())
                );
                assert!(!(0x1_8000_0000..0x1_8124_0000).contains(&file.to));
            }
            let files = named(&files, results);
            let counts = counts(&files);
            assert_eq!((counts.moved, counts.fixups), (0, 0));
        }
    }
}

#[test]
fn a_rebased_and_bound_set_looks_nothing_up_and_has_the_same_addresses() {
    for wide in [true, false] {
        let based = rebased(&set(wide), &new_stamp());
        let plain = load(&based, Options::default());
        assert!(plain.counts.names > 0);
        let files = bound(&based);
        let ready = load(&files, Options::default());
        assert_eq!(
            (ready.counts.names, ready.counts.ordinals, ready.counts.moved),
            (0, 0, 0)
        );
        // The program's two and the one between the libraries.
        assert_eq!((ready.counts.bound, ready.counts.stale), (3, 0));
        assert_eq!((ready.counts.written, ready.counts.system), (2, 2));
        assert_eq!(slots(&based, &plain), slots(&files, &ready));
        // A loader that does not know binding, as Wine's, comes to the same.
        let ignoring = Options {
            bound: false,
            ..Options::default()
        };
        let plain = load(&files, ignoring);
        assert_eq!((plain.counts.bound, plain.counts.written), (0, 8));
        // Again gives the same.
        assert_eq!(bound(&files), files);
    }
}

#[test]
fn the_directory_says_to_what_and_through_what() {
    let files = bound(&rebased(&set(true), &new_stamp()));
    let program = File::read(&files[0].1).unwrap();
    let directory: Vec<_> = program
        .bound()
        .unwrap()
        .iter()
        .map(|bound| {
            let name = |library: &[u8]| String::from_utf8(library.to_vec()).unwrap();
            let forwarders: Vec<_> = bound
                .forwarders
                .iter()
                .map(|to| (name(to.library), to.stamp))
                .collect();
            (name(bound.reference.library), bound.reference.stamp, forwarders)
        })
        .collect();
    let expected = [
        ("one.dll".to_owned(), 77, vec![]),
        ("TWO.DLL".to_owned(), 77, vec![("one.dll".to_owned(), 77)]),
        ("KERNEL32.dll".to_owned(), 0, vec![]),
    ];
    assert_eq!(directory, expected);
    let stamps: Vec<_> = program
        .imports()
        .unwrap()
        .iter()
        .map(|import| import.descriptor.stamp)
        .collect();
    assert_eq!(stamps, [u32::MAX, u32::MAX, 0]);
}

#[test]
fn a_binding_goes_stale_and_the_names_are_used_again() {
    let based = rebased(&set(true), &new_stamp());
    let files = bound(&based);
    // A new version of one.dll: the program is bound to it, and to two.dll through it.
    let mut changed = files.clone();
    let stamp = File::read(&changed[1].1).unwrap().headers.places.stamp();
    changed[1].1[stamp] ^= 1;
    let counts = counts(&changed);
    assert_eq!((counts.bound, counts.stale), (1, 2));
    assert_eq!(counts.names, 5);
    // A taken address.
    let base = File::read(&files[2].1).unwrap().headers.base;
    let loaded = load(
        &files,
        Options {
            occupied: std::iter::once(base..base + 1).collect(),
            ..Options::default()
        },
    );
    assert_eq!(
        (loaded.counts.moved, loaded.counts.bound, loaded.counts.stale),
        (1, 1, 2)
    );
    // Rebased once more with another stamp, and bound anew.
    let again = rebased(
        &files,
        &rebase::Options {
            base: Some(0x2_0000_0000),
            stamp: Some(78),
            ..rebase::Options::default()
        },
    );
    assert_eq!(self::counts(&again).stale, 3);
    assert_eq!(self::counts(&bound(&again)).names, 0);
}

#[test]
fn the_old_kind_of_binding_is_honoured_with_its_chain() {
    let mut files = rebased(&set(true), &new_stamp());
    let plain = load(&files, Options::default());
    let (one, two) = (plain.modules[1].base, plain.modules[2].base);
    let program = File::read(&files[0].1).unwrap();
    let table = program.headers.directories[1].rva;
    let slots = program.imports().unwrap()[1].descriptor.slots;
    // Of TWO.DLL: slot 0 is forwarded and starts the chain, slot 1 is bound.
    let places: Vec<_> = [table + 24, table + 28, slots, slots + 8]
        .map(|rva| program.headers.place(rva, 8).unwrap())
        .to_vec();
    let bytes = &mut files[0].1;
    bytes[places[0]..places[0] + 4].copy_from_slice(&77_u32.to_le_bytes());
    bytes[places[1]..places[1] + 4].copy_from_slice(&0_u32.to_le_bytes());
    bytes[places[2]..places[2] + 8].copy_from_slice(&u64::from(u32::MAX).to_le_bytes());
    bytes[places[3]..places[3] + 8].copy_from_slice(&(two + 0x1020).to_le_bytes());
    let loaded = load(&files, Options::default());
    assert_eq!(loaded.counts.bound, 1);
    assert_eq!(loaded.modules[0].image.u64(slots), Some(one + 0x1000));
    assert_eq!(loaded.counts.written, plain.counts.written - 1);
}

#[test]
fn there_and_back_gives_the_bytes_but_for_checksum_and_stamp() {
    for wide in [true, false] {
        let files = set(wide);
        let there = rebased(&files[1..].to_vec(), &new_stamp());
        let base = File::read(&files[2].1).unwrap().headers.base;
        for ((_, before), (name, moved)) in files[1..].iter().zip(there) {
            let options = rebase::Options {
                base: Some(base),
                stamp: Some(File::read(before).unwrap().headers.stamp),
                ..rebase::Options::default()
            };
            let mut back = rebase([(name, moved.as_slice())], &options)
                .unwrap()
                .remove(0)
                .bytes;
            let place = File::read(&back).unwrap().headers.places.checksum();
            back[place..place + 4].fill(0);
            assert_eq!(&back, before);
        }
    }
}

#[test]
fn binding_in_the_wrong_order_is_refused() {
    let files = set(true);
    let error = bind(borrowed(&files), bind::Options::default()).unwrap_err();
    assert!(matches!(error, bind::Refused::Moved(_)), "{error}");
    assert!(error.to_string().contains("rebase first"));
    let dynamic = Sample {
        flags: 0x0040,
        exports: vec![Offer::Here(Some("f"))],
        ..Sample::default()
    };
    let mixed = vec![
        ("a.dll", set(true)[1].1.clone()),
        ("b.dll", set(false)[2].1.clone()),
    ];
    let error = bind(borrowed(&mixed), bind::Options::default()).unwrap_err();
    assert!(matches!(error, bind::Refused::Mixed(_)), "{error}");
    let files = vec![("a.dll", dynamic.build())];
    let error = bind(borrowed(&files), bind::Options::default()).unwrap_err();
    assert!(matches!(error, bind::Refused::DynamicBase(_)), "{error}");
    let even = bind::Options {
        even_dynamic_base: true,
        ..bind::Options::default()
    };
    assert!(bind(borrowed(&files), even).is_ok());
    let cleared = rebased(
        &files,
        &rebase::Options {
            clear_dynamic_base: true,
            ..rebase::Options::default()
        },
    );
    assert!(bind(borrowed(&cleared), bind::Options::default()).is_ok());
}

#[test]
fn what_would_break_is_refused_or_left() {
    let library = Sample {
        exports: vec![
            Offer::Here(Some("f")),
            Offer::Elsewhere("system", "NTDLL.RtlSomething"),
        ],
        ..Sample::default()
    };
    let program = |name, crowded| Sample {
        library: false,
        base: 0x1_4000_0000,
        imports: vec![("a.dll", vec![Take::Name(name, 0)])],
        crowded,
        ..Sample::default()
    };
    let with =
        |program: Sample, library: &Sample| vec![("app.exe", program.build()), ("a.dll", library.build())];
    let tried = |files: &Files| bind(borrowed(files), bind::Options::default());
    let error = tried(&with(program("f", true), &library)).unwrap_err();
    assert!(matches!(error, bind::Refused::NoRoom { room: 0, .. }), "{error}");
    let error = tried(&with(program("g", false), &library)).unwrap_err();
    assert!(matches!(error, bind::Refused::NotExported { .. }), "{error}");
    let left = |files: &Files| tried(files).unwrap()[0].left.clone();
    let files = with(program("system", false), &library);
    assert_eq!(left(&files), [("a.dll".to_owned(), Reason::ForwardsOutside)]);
    assert_eq!(tried(&files).unwrap()[0].bytes, files[0].1, "nothing was bound");
    let unstamped = Sample {
        stamp: 0,
        ..library.clone()
    };
    let files = with(program("f", false), &unstamped);
    assert_eq!(left(&files), [("a.dll".to_owned(), Reason::NoStamp)]);
    let forbidden = Sample {
        flags: 0x0800,
        ..program("f", false)
    };
    let error = tried(&with(forbidden, &library)).unwrap_err();
    assert!(matches!(error, bind::Refused::Forbidden(_)), "{error}");
}

#[test]
fn signed_files_are_changed_only_when_that_is_wanted() {
    let mut file = Sample::default().build();
    let whole = file.clone();
    let place = 64 + 24 + 112 + 4 * 8;
    file[place..place + 4].copy_from_slice(&(whole.len() as u32).to_le_bytes());
    file[place + 4..place + 8].copy_from_slice(&16_u32.to_le_bytes());
    file.extend([1; 16]);
    let files = vec![("a.dll", file)];
    assert!(matches!(
        rebase(borrowed(&files), &new_stamp()).unwrap_err(),
        rebase::Refused::Signed(_)
    ));
    assert!(matches!(
        bind(borrowed(&files), bind::Options::default()).unwrap_err(),
        bind::Refused::Signed(_)
    ));
    let options = rebase::Options {
        strip_signature: true,
        ..new_stamp()
    };
    let stripped = rebased(&files, &options);
    assert_eq!(stripped[0].1.len(), whole.len());
    assert!(File::read(&stripped[0].1).unwrap().headers.signature().is_none());
}

#[test]
fn what_cannot_be_rebased_is_refused() {
    let refused = |files: &Files, options: &rebase::Options| rebase(borrowed(files), options).unwrap_err();
    let stripped = Sample {
        stripped: true,
        ..Sample::default()
    };
    let files = vec![("a.dll", stripped.build())];
    assert!(matches!(refused(&files, &new_stamp()), rebase::Refused::Fixed(_)));
    let files = vec![
        ("a.dll", set(true)[1].1.clone()),
        ("b.dll", set(false)[1].1.clone()),
    ];
    assert!(matches!(refused(&files, &new_stamp()), rebase::Refused::Mixed(_)));
    let odd = rebase::Options {
        base: Some(0x1234),
        ..new_stamp()
    };
    assert!(matches!(refused(&files, &odd), rebase::Refused::Base(0x1234)));
    let full = rebase::Options {
        base: Some(0x7fff_fffe_0000),
        ..new_stamp()
    };
    assert!(matches!(refused(&set(true), &full), rebase::Refused::Full(_)));
}
