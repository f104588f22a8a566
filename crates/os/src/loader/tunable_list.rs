//! What `ld.so --list-tunables` prints, one tunable a line:
//! `glibc.malloc.arena_max: 0x0 (min: 0x1, max: 0xffffffffffffffff)`, or for texts only a name and a colon.

use super::Tunable;

pub(super) fn parse(text: &str) -> Vec<Tunable> {
    text.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<Tunable> {
    let (name, rest) = line.split_once(':')?;
    // The loader may print warnings of its own; names of tunables have dots and no blanks.
    if !name.contains('.') || name.contains(|c: char| c.is_whitespace() || c == '/') {
        return None;
    }
    let (value, range) = rest.split_once('(').unwrap_or((rest, ""));
    let bound = |key: &str| {
        let after = range.split_once(key)?.1;
        number(after.split([',', ')']).next()?)
    };
    Some(Tunable {
        name: name.to_owned(),
        default: value.trim().to_owned(),
        min: bound("min:"),
        max: bound("max:"),
    })
}

fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_all_types_are_understood() {
        let text = "\
glibc.rtld.nns: 0x4 (min: 0x1, max: 0x10)
glibc.malloc.arena_max: 0x0 (min: 0x1, max: 0xffffffffffffffff)
glibc.malloc.mmap_max: 0 (min: 0, max: 2147483647)
glibc.cpu.x86_ibt:
";
        let tunable = |name: &str, default: &str, range: Option<(u64, u64)>| Tunable {
            name: name.to_owned(),
            default: default.to_owned(),
            min: range.map(|range| range.0),
            max: range.map(|range| range.1),
        };
        let expected = [
            tunable("glibc.rtld.nns", "0x4", Some((1, 16))),
            tunable("glibc.malloc.arena_max", "0x0", Some((1, u64::MAX))),
            tunable("glibc.malloc.mmap_max", "0", Some((0, 2_147_483_647))),
            tunable("glibc.cpu.x86_ibt", "", None),
        ];
        assert_eq!(parse(text), expected);
    }

    #[test]
    fn other_lines_are_left_out() {
        assert_eq!(
            parse("/lib/ld.so: warning: something\nusage: ld.so\n\n:\na b.c: 1\n"),
            []
        );
        let strange = parse("glibc.a.b: x (min: -1, max: 99999999999999999999999)\n");
        assert_eq!((strange[0].min, strange[0].max), (None, None));
    }
}
