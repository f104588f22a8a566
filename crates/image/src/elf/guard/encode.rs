//! From a plan to the bytes that the guard reads; see [`super::layout`].

use super::layout::{self, Table};
use super::{Fill, Identity, Plan, Unfillable};

/// The bytes of a plan. Their number depends on everything but identities, `hwcap` and the values of addresses.
pub(super) fn encode(plan: &Plan) -> Result<Vec<u8>, Unfillable> {
    check_counts(plan)?;
    let mut tables = Tables {
        rows: Vec::new(),
        places: Vec::new(),
        texts: Vec::new(),
        texts_at: 0,
    };
    // The texts lie behind all tables but the last, which has none. Their place must be known when they are named.
    tables.texts_at = 8 * (layout::HEADER_WORDS + words_before_texts(plan));

    let mut header = [0; layout::HEADER_WORDS];
    header[layout::FORMAT] = layout::MAGIC;
    header[layout::ORIGINAL] = tables.text(&plan.original)?;
    header[layout::LOADER] = tables.text(&plan.loader.path)?;
    let identity = &mut header[layout::LOADER_IDENTITY..][..layout::IDENTITY_WORDS];
    identity.copy_from_slice(&words(&plan.loader.identity));
    header[layout::LOADER_ENTRY] = plan.loader.entry;
    header[layout::LOADER_SPAN] = plan.loader.span;
    header[layout::HWCAP] = plan.hwcap.0;
    header[layout::HWCAP2] = plan.hwcap.1;
    header[layout::DEBUG] = plan.debug;

    tables.add(layout::PIECES, plan.loader.pieces.clone());
    tables.add(layout::ZEROES, plan.loader.zeroes.clone());
    let mut watched = Vec::new();
    for (path, identity) in &plan.watched {
        let [device, inode, size, seconds, nanoseconds] = words(identity);
        watched.push([tables.text(path)?, device, inode, size, seconds, nanoseconds]);
    }
    tables.add(layout::WATCHED, watched);
    let absent: Result<_, _> = plan.absent.iter().map(|path| Ok([tables.text(path)?])).collect();
    tables.add(layout::ABSENT, absent?);
    tables.add(
        layout::RANGES,
        plan.ranges
            .iter()
            .map(|&(begin, length)| [begin, length])
            .collect(),
    );
    add_objects(plan, &mut tables)?;
    finish(plan, header, tables)
}

/// What is needed only when there are fills, except for the fills themselves.
fn add_objects(plan: &Plan, tables: &mut Tables) -> Result<(), Unfillable> {
    let mut floating = Vec::new();
    let mut names = Vec::new();
    for object in &plan.floating {
        floating.push([object.dynamic, names.len() as u64, object.names.len() as u64]);
        for name in &object.names {
            names.push([layout::hash(name.bytes()), tables.text(name)?]);
        }
    }
    tables.add(layout::FLOATING, floating);
    tables.add(layout::NAMES, names);
    let mut renamed = Vec::new();
    for object in &plan.renamed {
        let (copy, original) = object.identities.unwrap_or_default();
        renamed.push([
            layout::hash(object.copy.bytes()),
            tables.text(&object.copy)?,
            tables.text(&object.original)?,
            copy.device,
            copy.inode,
            original.device,
            original.inode,
        ]);
    }
    tables.add(layout::RENAMED, renamed);
    let mut first = 0;
    let mut objects = Vec::new();
    for fills in &plan.fills {
        objects.push([first, fills.len() as u64]);
        first += fills.len() as u64;
    }
    tables.add(layout::OBJECTS, objects);
    Ok(())
}

fn finish(
    plan: &Plan,
    mut header: [u64; layout::HEADER_WORDS],
    mut tables: Tables,
) -> Result<Vec<u8>, Unfillable> {
    tables.texts.resize(tables.texts.len().next_multiple_of(8), 0);
    let fills_at = tables.texts_at + tables.texts.len();
    let fills: Result<Vec<_>, _> = plan
        .fills
        .iter()
        .flatten()
        .map(|fill| Ok([target(fill, plan.floating.len())?, fill.value]))
        .collect();
    let fills = fills?;
    tables.places.push((layout::FILLS.at(), fills_at, fills.len()));
    for (at, offset, rows) in tables.places {
        header[at] = offset as u64;
        header[at + 1] = rows as u64;
    }
    header[layout::LENGTH] = (fills_at + 16 * fills.len() + 8) as u64;
    let mut bytes = Vec::with_capacity(fills_at + 16 * fills.len() + 8);
    let mut append = |word: &u64| bytes.extend_from_slice(&word.to_le_bytes());
    header.iter().chain(&tables.rows).for_each(&mut append);
    bytes.extend_from_slice(&tables.texts);
    let mut append = |word: &u64| bytes.extend_from_slice(&word.to_le_bytes());
    fills
        .as_flattened()
        .iter()
        .chain([&layout::END])
        .for_each(&mut append);
    Ok(bytes)
}

/// Tables and texts as they grow.
struct Tables {
    rows: Vec<u64>,
    /// Where in the header a table's place is told, its offset, and its number of rows.
    places: Vec<(usize, usize, usize)>,
    texts: Vec<u8>,
    texts_at: usize,
}

impl Tables {
    fn add<const WORDS: usize>(&mut self, table: Table<WORDS>, rows: Vec<[u64; WORDS]>) {
        let offset = 8 * (layout::HEADER_WORDS + self.rows.len());
        self.places.push((table.at(), offset, rows.len()));
        self.rows.extend(rows.as_flattened());
    }

    /// Keeps a text; the word that names it.
    fn text(&mut self, text: &str) -> Result<u64, Unfillable> {
        if text.bytes().any(|byte| byte == 0) {
            return Err(Unfillable::Text(text.to_owned()));
        }
        let offset = self.texts_at + self.texts.len();
        self.texts.extend_from_slice(text.as_bytes());
        self.texts.push(0);
        Ok(offset as u64 | (text.len() as u64) << 32)
    }
}

const fn words(identity: &Identity) -> [u64; layout::IDENTITY_WORDS] {
    let (seconds, nanoseconds) = identity.modified;
    [
        identity.device,
        identity.inode,
        identity.size,
        seconds.cast_unsigned(),
        nanoseconds as u64,
    ]
}

/// The number of words of all tables but the fills.
fn words_before_texts(plan: &Plan) -> usize {
    const fn of<const WORDS: usize>(_: Table<WORDS>, rows: usize) -> usize {
        WORDS * rows
    }
    let names = plan.floating.iter().map(|floating| floating.names.len()).sum();
    of(layout::PIECES, plan.loader.pieces.len())
        + of(layout::ZEROES, plan.loader.zeroes.len())
        + of(layout::WATCHED, plan.watched.len())
        + of(layout::ABSENT, plan.absent.len())
        + of(layout::RANGES, plan.ranges.len())
        + of(layout::FLOATING, plan.floating.len())
        + of(layout::NAMES, names)
        + of(layout::RENAMED, plan.renamed.len())
        + of(layout::OBJECTS, plan.fills.len())
}

/// Slot, floating object and kind in one word.
fn target(fill: &Fill, floating: usize) -> Result<u64, Unfillable> {
    let wrong = |why| Unfillable::Fill { slot: fill.slot, why };
    if fill.slot >> layout::SLOT_BITS != 0 {
        return Err(wrong("it lies beyond the address space of programs"));
    } else if fill.floating as usize >= floating {
        return Err(wrong("it is for a floating object that is not in the plan"));
    }
    let object = u64::from(fill.floating) << layout::SLOT_BITS;
    Ok(fill.slot | object | u64::from(fill.ifunc) << layout::IFUNC_BIT)
}

fn check_counts(plan: &Plan) -> Result<(), Unfillable> {
    for (what, count, most) in [
        ("objects with fills", plan.fills.len(), layout::STUBS),
        ("floating objects", plan.floating.len(), layout::MOST_FLOATING),
    ] {
        if count > most {
            return Err(Unfillable::TooMany { what, count, most });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::Floating;
    use super::*;

    fn word(bytes: &[u8], index: usize) -> u64 {
        u64::from_le_bytes(bytes[8 * index..][..8].try_into().unwrap())
    }

    fn rows<const WORDS: usize>(bytes: &[u8], table: Table<WORDS>) -> Vec<[u64; WORDS]> {
        let first = word(bytes, table.at()) as usize / 8;
        let count = word(bytes, table.at() + 1) as usize;
        (0..count)
            .map(|row| std::array::from_fn(|column| word(bytes, first + row * WORDS + column)))
            .collect()
    }

    fn text(bytes: &[u8], name: u64) -> &str {
        let (begin, length) = (name as u32 as usize, (name >> 32) as usize);
        assert_eq!(bytes[begin + length], 0);
        std::str::from_utf8(&bytes[begin..begin + length]).unwrap()
    }

    fn plan() -> Plan {
        let identity = Identity {
            device: 1,
            inode: 2,
            size: 3,
            modified: (-4, 5),
        };
        let fill = |slot, ifunc| Fill {
            slot,
            floating: 1,
            value: 0x99,
            ifunc,
        };
        let floating = |name: &str| Floating {
            names: vec![name.into(), "other".into()],
            dynamic: 7,
        };
        Plan {
            original: "/bin/x".into(),
            watched: vec![("/a".into(), identity), ("/b".into(), identity)],
            absent: vec!["/none".into()],
            ranges: vec![(0x1000, 0x2000)],
            hwcap: (10, 11),
            debug: 12,
            floating: vec![floating("l"), floating("m")],
            fills: vec![
                vec![fill(0x10, false)],
                vec![fill(0x7fff_ffff_fff8, true), fill(0x20, false)],
            ],
            ..Plan::default()
        }
    }

    #[test]
    fn everything_is_where_the_guard_looks_for_it() {
        let bytes = encode(&plan()).unwrap();
        assert_eq!(word(&bytes, layout::FORMAT), layout::MAGIC);
        assert_eq!(word(&bytes, layout::LENGTH), bytes.len() as u64);
        assert_eq!(word(&bytes, bytes.len() / 8 - 1), layout::END);
        assert_eq!(text(&bytes, word(&bytes, layout::ORIGINAL)), "/bin/x");
        assert_eq!(
            (
                word(&bytes, layout::HWCAP),
                word(&bytes, layout::HWCAP2),
                word(&bytes, layout::DEBUG)
            ),
            (10, 11, 12)
        );
        let watched = rows(&bytes, layout::WATCHED);
        assert_eq!(text(&bytes, watched[1][0]), "/b");
        assert_eq!(watched[1][1..], [1, 2, 3, -4_i64 as u64, 5]);
        assert_eq!(text(&bytes, rows(&bytes, layout::ABSENT)[0][0]), "/none");
        assert_eq!(rows(&bytes, layout::RANGES), [[0x1000, 0x2000]]);
        assert_eq!(rows(&bytes, layout::FLOATING), [[7, 0, 2], [7, 2, 2]]);
        let names = rows(&bytes, layout::NAMES);
        assert_eq!(
            (names[2][0], text(&bytes, names[2][1])),
            (layout::hash("m".bytes()), "m")
        );
        assert_eq!(rows(&bytes, layout::OBJECTS), [[0, 1], [1, 2]]);
        assert_eq!(
            rows(&bytes, layout::FILLS),
            [
                [0x1_0000_0000_0010, 0x99],
                [0x8001_7fff_ffff_fff8, 0x99],
                [0x1_0000_0000_0020, 0x99]
            ]
        );
    }

    #[test]
    fn the_length_does_not_depend_on_values() {
        let mut other = plan();
        other.watched[0].1 = Identity::default();
        other.fills[1][0].slot = 0;
        other.debug = u64::MAX;
        assert_eq!(encode(&other).unwrap().len(), encode(&plan()).unwrap().len());
    }

    /// Source: the published test vectors of FNV-1a.
    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(layout::hash("".bytes()), 0xcbf2_9ce4_8422_2325);
        assert_eq!(layout::hash("a".bytes()), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(layout::hash("foobar".bytes()), 0x8594_4171_f739_67e8);
    }
}
