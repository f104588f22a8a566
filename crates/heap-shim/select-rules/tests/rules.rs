//! The language of the rules, as a person writes it and as the preloaded library reads it.

use proptest::prelude::any;
use proptest::prop_assert;
use proptest::prop_assert_eq;
use proptest::proptest;
use underhood_select_rules::Error;
use underhood_select_rules::Fault;
use underhood_select_rules::Heap;
use underhood_select_rules::choose;
use underhood_select_rules::parse;

const EXAMPLE: &[u8] = b"*=mimalloc;/usr/bin/buggy=system;*/java=jemalloc";

#[test]
fn the_last_match_wins() {
    assert_eq!(choose(EXAMPLE, b"/bin/ls"), Heap::Mimalloc);
    assert_eq!(choose(EXAMPLE, b"/usr/bin/buggy"), Heap::System);
    assert_eq!(choose(EXAMPLE, b"/usr/lib/jvm/bin/java"), Heap::Jemalloc);
    assert_eq!(
        choose(b"java=snmalloc;*=mimalloc", b"/usr/bin/java"),
        Heap::Mimalloc
    );
}

#[test]
fn a_pattern_without_a_slash_is_for_the_base_name() {
    assert_eq!(choose(b"java=jemalloc", b"/opt/jdk/bin/java"), Heap::Jemalloc);
    assert_eq!(choose(b"java=jemalloc", b"/opt/java/bin/jdk"), Heap::System);
    assert_eq!(
        choose(b"bin/java=jemalloc", b"/opt/bin/java"),
        Heap::System,
        "a slash means the whole path"
    );
    assert_eq!(choose(b"j*=snmalloc", b"/j/x"), Heap::System);
}

#[test]
fn no_match_no_rules_and_faults_mean_the_system_heap() {
    for text in [
        "",
        ";",
        " \n ",
        "cat=mimalloc",
        "ls",
        "*=",
        "=mimalloc",
        "*=tcmalloc",
        "*=mimalloc;oops",
        "*=Mimalloc",
    ] {
        assert_eq!(choose(text.as_bytes(), b"/bin/ls"), Heap::System, "{text:?}");
    }
}

#[test]
fn a_file_may_have_lines_blanks_and_comments() {
    let text = b"# heaps; of this machine = ours\n  * = mimalloc \r\n\n\t*/java\t=\tjemalloc;buggy = system # not a comment\n";
    assert_eq!(
        parse(text).map(|_| ()),
        Err(Error {
            position: 77,
            fault: Fault::UnknownHeap
        })
    );
    let text = b"# heaps; of this machine = ours\n  * = mimalloc \r\n\n\t*/java\t=\tjemalloc;buggy = system;# a comment; = x";
    assert_eq!(choose(text, b"/bin/ls"), Heap::Mimalloc);
    assert_eq!(choose(text, b"/x/java"), Heap::Jemalloc);
    assert_eq!(choose(text, b"/x/buggy"), Heap::System);
    assert_eq!(parse(text).map(Iterator::count), Ok(3));
}

#[test]
fn a_pattern_may_contain_an_equals_sign() {
    assert_eq!(choose(b"/opt/a=b/*=snmalloc", b"/opt/a=b/c"), Heap::Snmalloc);
}

#[test]
fn faults_are_named_with_their_position() {
    for (text, position, fault) in [
        ("ls", 0, Fault::NoHeap),
        ("*=mimalloc; ls", 12, Fault::NoHeap),
        (" =mimalloc", 1, Fault::EmptyPattern),
        ("*=", 2, Fault::EmptyHeap),
        ("*=mimalloc=system", 10, Fault::TwoHeaps),
        ("x=system;*=mimalloc = jemalloc", 20, Fault::TwoHeaps),
        ("* = ;x=system", 3, Fault::EmptyHeap),
        ("*=tcmalloc", 2, Fault::UnknownHeap),
        ("*=mimalloc\njava= jemaloc", 17, Fault::UnknownHeap),
        ("a\0b=system", 1, Fault::ZeroByte),
    ] {
        assert_eq!(
            parse(text.as_bytes()).map(|_| ()),
            Err(Error { position, fault }),
            "{text:?}"
        );
    }
}

#[test]
fn an_error_says_where_what_and_how_to_write_it() {
    let message = parse(b"*=tcmalloc").map(|_| ()).unwrap_err().to_string();
    assert_eq!(
        message,
        "read the heap rules at position 3: the heap is not one of system, mimalloc, jemalloc, snmalloc; \
         write, for example, '*=mimalloc;/usr/bin/buggy=system'"
    );
}

#[test]
fn every_heap_is_known_by_its_name() {
    for heap in Heap::ALL {
        assert_eq!(choose(format!("*={}", heap.name()).as_bytes(), b"/bin/ls"), heap);
    }
}

proptest! {
    /// Any bytes at all: no panic, faults inside the text, and both readers agree.
    #[test]
    fn any_text_is_read_without_harm(text in any::<Vec<u8>>(), path in any::<Vec<u8>>()) {
        match parse(&text) {
            Ok(rules) => {
                let last = rules.filter_map(Result::ok).filter(|rule| rule.applies_to(&path)).last();
                prop_assert_eq!(choose(&text, &path), last.map_or(Heap::System, |rule| rule.heap));
            }
            Err(error) => {
                prop_assert!(error.position <= text.len());
                prop_assert_eq!(choose(&text, &path), Heap::System);
            }
        }
    }

    #[test]
    fn texts_of_the_language_are_read_without_harm(text in "[a*?/=; \n#]{0,40}(=(system|mimalloc))?") {
        let _either = parse(text.as_bytes());
        let _any = choose(text.as_bytes(), b"/a/a");
    }

    #[test]
    fn rules_are_read_back(patterns in proptest::collection::vec("[a-z*?/.]{1,12}", 1..6)) {
        let text: String = patterns.iter().map(|pattern| format!(" {pattern} = snmalloc ;\n")).collect();
        let rules: Vec<_> = parse(text.as_bytes()).unwrap().map(Result::unwrap).collect();
        prop_assert_eq!(rules.len(), patterns.len());
        for (rule, pattern) in rules.iter().zip(&patterns) {
            prop_assert_eq!(rule.pattern, pattern.as_bytes());
        }
    }
}
