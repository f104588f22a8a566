//! The C and C++ surface, in every way to run a program.

use underhood_shim_tests::FORWARDING;
use underhood_shim_tests::REPLACING;
use underhood_shim_tests::Way;
use underhood_shim_tests::compile;
use underhood_shim_tests::ways;

#[test]
fn c_functions_mean_what_they_mean_in_glibc() {
    let program = compile("semantics.c", &[]);
    for way in ways() {
        let kind = if way.name == "plain" { "plain" } else { "replaced" };
        assert_eq!(way.output_of(&program, &[kind]), "ok\n", "{}", way.name);
    }
}

#[test]
fn every_operator_of_cxx_works_and_fails_as_the_standard_says() {
    let program = compile("operators.cpp", &["-std=c++17"]);
    let with_static_library = compile(
        "operators.cpp",
        &["-std=c++17", "-static-libstdc++", "-static-libgcc"],
    );
    for way in ways() {
        assert_eq!(way.output_of(&program, &[]), "ok\n", "{}", way.name);
        assert_eq!(
            way.output_of(&with_static_library, &[]),
            "ok\n",
            "static libstdc++ under {}",
            way.name
        );
    }
}

#[test]
fn operators_that_the_program_replaces_are_respected() {
    let program = compile("partial.cpp", &["-std=c++17"]);
    for way in ways() {
        assert_eq!(way.output_of(&program, &[]), "ok\n", "{}", way.name);
    }
}

#[test]
fn every_phase_of_a_process_may_allocate() {
    let program = compile("lifetimes.cpp", &["-std=c++17"]);
    for way in ways() {
        assert_eq!(way.output_of(&program, &[]), "ok\n", "{}", way.name);
    }
}

fn answers(way: &Way) -> Vec<(String, String)> {
    way.output_of(compile("answers.c", &[]), &[])
        .split_whitespace()
        .filter_map(|pair| {
            pair.split_once('=')
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
        })
        .collect()
}

#[test]
fn questions_are_answered_for_the_heap_in_use() {
    for way in ways() {
        let answers = answers(&way);
        let answer = |name: &str| {
            let found = answers.iter().find(|(found, _)| found == name);
            found
                .map(|(_, value)| value.clone())
                .unwrap_or_else(|| panic!("{} does not answer {name}", way.name))
        };
        let number = |name: &str| answer(name).parse::<i64>().expect("a number");
        assert!(
            (60..=300).contains(&number("mapped_mib")),
            "{}: {answers:?}",
            way.name
        );
        // mimalloc and snmalloc do not count the program's blocks.
        let counts = !matches!(way.heap.as_str(), "mimalloc" | "snmalloc");
        let in_use = number("in_use_mib");
        assert!(
            if counts {
                (60..=80).contains(&in_use)
            } else {
                in_use == 0
            },
            "{}: {answers:?}",
            way.name
        );
        assert_eq!(answer("narrow_agrees"), "1", "{}", way.name);
        assert_eq!(answer("info"), "0", "{}", way.name);
        assert_eq!(answer("frame"), "1", "{}", way.name);
        assert_eq!(
            number("mallopt"),
            i64::from(!way.replaces()),
            "{}: only glibc's heap has its options",
            way.name
        );
        assert!((0..=1).contains(&number("trim")), "{}", way.name);
        let name = if way.name.starts_with("selector") {
            "selector"
        } else {
            &way.heap
        };
        assert_eq!(
            answer("name"),
            if way.name == "plain" { "none" } else { name },
            "{}",
            way.name
        );
    }
}

#[test]
fn glibcs_second_names_reach_the_same_heap() {
    let program = compile("second_names.c", &[]);
    let ways = REPLACING.into_iter().chain(FORWARDING).map(Way::heap);
    // A selector that chose another heap cannot offer them: it forwards to glibc's heap by these names.
    for way in ways.chain([Way::plain(), Way::selected("*=system")]) {
        assert_eq!(way.output_of(&program, &[]), "ok\n", "{}", way.name);
    }
}
