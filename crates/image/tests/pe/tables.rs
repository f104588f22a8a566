//! The tables that no PE file on an ordinary Linux machine has: delayed imports and thread-local storage of both widths.

use image::pe::File;
use image::pe::imports::Symbol;
use image::pe::tls::Tls;

use crate::sample::{Sample, Take};

#[test]
fn delayed_imports_are_read_with_rvas_and_with_addresses() {
    for (wide, by_address) in [(true, false), (false, false), (false, true)] {
        let sample = Sample {
            wide,
            base: 0x1000_0000,
            delayed: vec![
                ("late.dll", vec![Take::Name("one", 3), Take::Ordinal(7)]),
                ("later.dll", vec![]),
            ],
            delayed_by_address: by_address,
            ..Sample::default()
        };
        let bytes = sample.build();
        let file = File::read(&bytes).unwrap();
        let delayed = file.delayed().unwrap();
        assert_eq!(delayed.len(), 2);
        assert_eq!(delayed[0].library, b"late.dll");
        let expected = [
            Symbol::Name {
                hint: 3,
                name: b"one",
            },
            Symbol::Ordinal(7),
        ];
        assert_eq!(delayed[0].symbols, expected);
        assert!(delayed[1].symbols.is_empty());
        // The loader has nothing to do for them.
        assert!(file.imports().unwrap().is_empty());
    }
}

#[test]
fn callbacks_of_thread_local_storage_are_counted() {
    for wide in [true, false] {
        let sample = Sample {
            wide,
            base: 0x1000_0000,
            callbacks: Some(2),
            ..Sample::default()
        };
        let bytes = sample.build();
        let expected = Tls {
            template: 16,
            zero_fill: 5,
            callbacks: 2,
        };
        assert_eq!(File::read(&bytes).unwrap().tls().unwrap(), Some(expected));
    }
}
