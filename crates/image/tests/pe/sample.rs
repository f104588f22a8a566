//! PE files made to order, a few kilobytes each, with no tool but this: both widths, every kind of import and export.

use std::collections::BTreeMap;

/// Where the one section with everything lies.
const DATA: u32 = 0x1000;
const HEADERS: u32 = 0x400;
const FILE_ALIGNMENT: u32 = 0x200;

/// An import.
#[derive(Clone, Copy)]
pub enum Take {
    Name(&'static str, u16),
    Ordinal(u16),
}

/// An export.
#[derive(Clone, Copy)]
pub enum Offer {
    /// Something of the file's own; the name is absent for `NONAME`.
    Here(Option<&'static str>),
    /// Forwarded.
    Elsewhere(&'static str, &'static str),
}

/// What the file is to be.
#[derive(Clone)]
pub struct Sample {
    pub wide: bool,
    pub library: bool,
    pub base: u64,
    pub stamp: u32,
    pub flags: u16,
    pub stripped: bool,
    pub imports: Vec<(&'static str, Vec<Take>)>,
    pub exports: Vec<Offer>,
    /// Pointers to the file itself, each with a fixup.
    pub pointers: u32,
    /// Imports that are made at the first call.
    pub delayed: Vec<(&'static str, Vec<Take>)>,
    /// These hold addresses and not RVAs, as the oldest linkers wrote them.
    pub delayed_by_address: bool,
    /// Thread-local storage with so many callbacks.
    pub callbacks: Option<u32>,
    /// Filled with something: no room for a directory of bound imports.
    pub crowded: bool,
}

impl Default for Sample {
    fn default() -> Self {
        Self {
            wide: true,
            library: true,
            base: 0x1_8000_0000,
            stamp: 1000,
            flags: 0,
            stripped: false,
            imports: Vec::new(),
            exports: Vec::new(),
            pointers: 10,
            delayed: Vec::new(),
            delayed_by_address: false,
            callbacks: None,
            crowded: false,
        }
    }
}

struct Blob(Vec<u8>);

impl Blob {
    fn rva(&self) -> u32 {
        DATA + self.0.len() as u32
    }
    fn align(&mut self, to: usize) {
        self.0.resize(self.0.len().next_multiple_of(to), 0);
    }
    fn u16(&mut self, value: u16) {
        self.0.extend(value.to_le_bytes());
    }
    fn u32(&mut self, value: u32) {
        self.0.extend(value.to_le_bytes());
    }
    fn word(&mut self, value: u64, wide: bool) {
        if wide {
            self.0.extend(value.to_le_bytes());
        } else {
            self.u32(value as u32);
        }
    }
    fn text(&mut self, text: &str) -> u32 {
        let rva = self.rva();
        self.0.extend(text.as_bytes());
        self.0.push(0);
        rva
    }
}

impl Sample {
    pub fn build(&self) -> Vec<u8> {
        let mut blob = Blob(Vec::new());
        let mut directories = [(0_u32, 0_u32); 16];
        // What is exported: sixteen bytes each.
        for index in 0..self.exports.len() as u32 + 1 {
            blob.0.extend([0x90; 12]);
            blob.u32(index);
        }
        let pointers = blob.rva();
        for index in 0..self.pointers {
            blob.word(self.base + u64::from(DATA + index % 16), self.wide);
        }
        if !self.exports.is_empty() {
            directories[0] = self.export(&mut blob);
        }
        if !self.imports.is_empty() {
            directories[1] = self.import(&mut blob);
        }
        if !self.delayed.is_empty() {
            directories[13] = self.delay(&mut blob);
        }
        if let Some(callbacks) = self.callbacks {
            directories[9] = self.storage(&mut blob, callbacks);
        }
        if self.pointers > 0 && !self.stripped {
            directories[5] = self.fixups(&mut blob, pointers);
        }
        self.finish(&blob.0, &directories)
    }

    fn export(&self, blob: &mut Blob) -> (u32, u32) {
        blob.align(4);
        let start = blob.rva();
        let count = self.exports.len() as u32;
        let names: BTreeMap<_, _> = self
            .exports
            .iter()
            .enumerate()
            .filter_map(|(index, offer)| match offer {
                Offer::Here(name) => Some(((*name)?, index)),
                Offer::Elsewhere(name, _) => Some((*name, index)),
            })
            .collect();
        // The texts come behind the three tables, whose sizes are known.
        let functions = start + 40;
        let pointers = functions + 4 * count;
        let ordinals = pointers + 4 * names.len() as u32;
        let texts = ordinals + 2 * names.len() as u32;
        let mut text = Blob(vec![0; (texts - DATA) as usize]);
        let name = text.text("itself.dll");
        let addresses: Vec<_> = self
            .exports
            .iter()
            .enumerate()
            .map(|(index, offer)| match offer {
                Offer::Here(_) => DATA + 16 * index as u32,
                Offer::Elsewhere(_, target) => text.text(target),
            })
            .collect();
        let name_rvas: Vec<_> = names.keys().map(|name| text.text(name)).collect();
        for value in [
            0,
            self.stamp,
            0,
            name,
            1,
            count,
            names.len() as u32,
            functions,
            pointers,
            ordinals,
        ] {
            blob.u32(value);
        }
        addresses.iter().chain(&name_rvas).for_each(|&rva| blob.u32(rva));
        names.values().for_each(|&index| blob.u16(index as u16));
        let here = blob.0.len();
        blob.0.extend(&text.0[here..]);
        (start, blob.rva() - start)
    }

    /// The names of what is taken from a library: the RVA of its own name, and the entries of its lists.
    fn taken(&self, blob: &mut Blob, library: &str, symbols: &[Take]) -> (u32, Vec<u64>) {
        let flag = if self.wide { 1 << 63 } else { 1 << 31 };
        let name = blob.text(library);
        let mut entries = Vec::new();
        for symbol in symbols {
            entries.push(match symbol {
                Take::Ordinal(ordinal) => flag | u64::from(*ordinal),
                Take::Name(name, hint) => {
                    blob.align(2);
                    let at = blob.rva();
                    blob.u16(*hint);
                    blob.text(name);
                    at.into()
                }
            });
        }
        entries.push(0);
        blob.align(8);
        (name, entries)
    }

    fn import(&self, blob: &mut Blob) -> (u32, u32) {
        let mut rows = Vec::new();
        for (library, symbols) in &self.imports {
            let (name, entries) = self.taken(blob, library, symbols);
            let lists = [(); 2].map(|()| {
                let list = blob.rva();
                entries.iter().for_each(|&entry| blob.word(entry, self.wide));
                list
            });
            rows.push([lists[0], 0, 0, name, lists[1]]);
        }
        blob.align(4);
        let start = blob.rva();
        rows.iter().flatten().for_each(|&value| blob.u32(value));
        blob.0.extend([0; 20]);
        (start, blob.rva() - start)
    }

    fn delay(&self, blob: &mut Blob) -> (u32, u32) {
        let mut rows = Vec::new();
        let (attributes, base) = if self.delayed_by_address {
            (0, self.base as u32)
        } else {
            (1, 0)
        };
        for (library, symbols) in &self.delayed {
            let (name, entries) = self.taken(blob, library, symbols);
            let list = blob.rva();
            for entry in entries {
                blob.word(entry, self.wide);
            }
            rows.push([attributes, base + name, 0, 0, base + list, 0, 0, 0]);
        }
        blob.align(4);
        let start = blob.rva();
        rows.iter().flatten().for_each(|&value| blob.u32(value));
        blob.0.extend([0; 32]);
        (start, blob.rva() - start)
    }

    fn storage(&self, blob: &mut Blob, callbacks: u32) -> (u32, u32) {
        blob.align(8);
        let list = blob.rva();
        for _ in 0..callbacks {
            blob.word(self.base + u64::from(DATA), self.wide);
        }
        blob.word(0, self.wide);
        let start = blob.rva();
        for rva in [DATA, DATA + 16, DATA, list] {
            blob.word(self.base + u64::from(rva), self.wide);
        }
        blob.u32(5);
        blob.u32(0);
        (start, blob.rva() - start)
    }

    fn fixups(&self, blob: &mut Blob, pointers: u32) -> (u32, u32) {
        blob.align(4);
        let start = blob.rva();
        let (width, kind) = if self.wide { (8, 10) } else { (4, 3) };
        let mut pages: BTreeMap<u32, Vec<u16>> = BTreeMap::new();
        for index in 0..self.pointers {
            let rva = pointers + index * width;
            let entry = kind << 12 | (rva & 0xfff) as u16;
            pages.entry(rva & !0xfff).or_default().push(entry);
        }
        for (page, mut entries) in pages {
            if entries.len() % 2 == 1 {
                entries.push(0);
            }
            blob.u32(page);
            blob.u32(8 + 2 * entries.len() as u32);
            entries.iter().for_each(|&entry| blob.u16(entry));
        }
        (start, blob.rva() - start)
    }

    fn finish(&self, data: &[u8], directories: &[(u32, u32); 16]) -> Vec<u8> {
        let mut out = Blob(Vec::new());
        out.0.extend(b"MZ");
        out.0.resize(60, 0);
        out.u32(64);
        out.0.extend(b"PE\0\0");
        out.u16(if self.wide { 0x8664 } else { 0x14c });
        out.u16(1);
        out.u32(self.stamp);
        out.u32(0);
        out.u32(0);
        out.u16(if self.wide { 240 } else { 224 });
        out.u16(0x0002 | if self.library { 0x2000 } else { 0 } | u16::from(self.stripped));
        let size = data.len() as u32;
        let stored = size.next_multiple_of(FILE_ALIGNMENT);
        out.u16(if self.wide { 0x20b } else { 0x10b });
        out.u16(0x2802);
        [0, stored, 0, 0, DATA].iter().for_each(|&value| out.u32(value));
        if self.wide {
            out.word(self.base, true);
        } else {
            out.u32(DATA);
            out.u32(self.base as u32);
        }
        out.u32(0x1000);
        out.u32(FILE_ALIGNMENT);
        [4, 0, 0, 0, 4, 0].iter().for_each(|&value| out.u16(value));
        out.u32(0);
        out.u32((DATA + size).next_multiple_of(0x1000));
        out.u32(HEADERS);
        out.u32(0);
        out.u16(3);
        out.u16(self.flags);
        for value in [0x10_0000, 0x1000, 0x10_0000, 0x1000] {
            out.word(value, self.wide);
        }
        out.u32(0);
        out.u32(16);
        for (rva, size) in directories {
            out.u32(*rva);
            out.u32(*size);
        }
        out.0.extend(b".data\0\0\0");
        for value in [size, DATA, stored, HEADERS, 0, 0, 0, 0xe000_0060] {
            out.u32(value);
        }
        out.0
            .resize(HEADERS as usize, if self.crowded { 0xcc } else { 0 });
        out.0.extend(data);
        out.0.resize((HEADERS + stored) as usize, 0);
        out.0
    }
}

/// A program and two libraries that want the same place, and import from each other in every way.
pub fn set(wide: bool) -> Vec<(&'static str, Vec<u8>)> {
    let base = if wide { 0x1_8000_0000 } else { 0x1000_0000 };
    let program = Sample {
        wide,
        library: false,
        base: if wide { 0x1_4000_0000 } else { 0x40_0000 },
        stamp: 1,
        imports: vec![
            (
                "one.dll",
                vec![Take::Name("alpha", 0), Take::Name("beta", 7), Take::Ordinal(3)],
            ),
            (
                "TWO.DLL",
                vec![Take::Name("forwarded", 0), Take::Name("gamma", 2)],
            ),
            (
                "KERNEL32.dll",
                vec![Take::Name("ExitProcess", 0), Take::Ordinal(9)],
            ),
        ],
        ..Sample::default()
    };
    let one = Sample {
        wide,
        base,
        stamp: 2,
        imports: vec![("two", vec![Take::Ordinal(2)])],
        exports: vec![
            Offer::Here(Some("alpha")),
            Offer::Here(Some("beta")),
            Offer::Here(None),
        ],
        ..Sample::default()
    };
    let two = Sample {
        wide,
        base,
        stamp: 3,
        exports: vec![
            Offer::Elsewhere("forwarded", "one.alpha"),
            Offer::Here(Some("delta")),
            Offer::Here(Some("gamma")),
            Offer::Elsewhere("again", "two.#2"),
        ],
        pointers: 700,
        ..Sample::default()
    };
    vec![
        ("app.exe", program.build()),
        ("one.dll", one.build()),
        ("two.dll", two.build()),
    ]
}

/// Borrowed, as the functions under test take it.
pub fn borrowed<'a>(files: &'a [(&'a str, Vec<u8>)]) -> impl Iterator<Item = (&'a str, &'a [u8])> + Clone {
    files.iter().map(|(name, bytes)| (*name, bytes.as_slice()))
}
