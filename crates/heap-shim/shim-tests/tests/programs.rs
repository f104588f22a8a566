//! Real programs give the same output and the same exit status under every heap.

use std::fs;

use underhood_shim_tests::Way;
use underhood_shim_tests::exists;
use underhood_shim_tests::skip;
use underhood_shim_tests::temporary_folder;
use underhood_shim_tests::ways;

const PYTHON: &str = "import json,re,threading\n\
    d={str(i):[i]*(i%50) for i in range(5000)}\n\
    r=[]\n\
    ts=[threading.Thread(target=lambda k=k: r.append(len(re.findall('1+',json.dumps(d)))+k)) for k in range(4)]\n\
    [t.start() for t in ts];[t.join() for t in ts]\n\
    print(sorted(r))";

fn identical_everywhere(program: &str, arguments: &[&str], environment: Option<(&str, &str)>) {
    if !exists(program) {
        skip(program, "not installed");
        return;
    }
    let dress = |way: Way| match environment {
        Some((name, value)) => way.with(name, value),
        None => way,
    };
    let expected = dress(Way::plain()).run(program, arguments);
    assert!(
        expected.status.success(),
        "{program}: {}",
        String::from_utf8_lossy(&expected.stderr)
    );
    for way in ways() {
        let name = way.name.clone();
        let output = dress(way).run(program, arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status, expected.status, "{program} under {name}: {errors}");
        assert_eq!(output.stdout, expected.stdout, "{program} under {name}");
        assert_eq!(output.stderr, expected.stderr, "{program} under {name}: {errors}");
    }
}

#[test]
fn python() {
    identical_everywhere("python3", &["-c", PYTHON], None);
}

#[test]
fn python_without_its_own_heap() {
    identical_everywhere("python3", &["-c", PYTHON], Some(("PYTHONMALLOC", "malloc")));
}

#[test]
fn perl() {
    let script = "my %h; $h{$_ % 1000} .= 'x' x ($_ % 77) for 1..50000; print join ' ', map { length $h{$_} } sort keys %h";
    identical_everywhere("perl", &["-e", script], None);
}

#[test]
fn bash() {
    let script = "for i in {1..200}; do a[$i]=$(printf '%*s' $i x); done; echo ${#a[@]} ${#a[77]}; (echo sub | tr a-z A-Z)";
    identical_everywhere("bash", &["-c", script], None);
}

#[test]
fn git() {
    let repository = temporary_folder("git").display().to_string();
    let script = format!(
        "export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_DATE=2001-01-01T00:00:00Z GIT_COMMITTER_DATE=2001-01-01T00:00:00Z \
         GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a; \
         cd {repository} && rm -rf .git && git init -q -b main && seq 1 20000 > f && git add f && \
         git commit -q -m one && seq 1 2 20000 > f && git commit -q -a -m two && git log --stat && git gc -q && git fsck"
    );
    identical_everywhere("sh", &["-c", &script], None);
}

#[test]
fn gcc() {
    let folder = temporary_folder("gcc");
    let source = folder.join("source.c");
    let functions: String = (0..300)
        .map(|n| format!("int f{n}(int x) {{ return x * {n} + f_sum(x); }}\n"))
        .collect();
    fs::write(
        &source,
        format!("static int f_sum(int x) {{ return x + 1; }}\n{functions}"),
    )
    .expect("write a source");
    identical_everywhere(
        "gcc",
        &["-O1", "-S", "-o", "-", &source.display().to_string()],
        None,
    );
}

#[test]
fn sort() {
    let folder = temporary_folder("sort");
    let input = folder.join("lines");
    let lines: String = (0..200_000_u64)
        .map(|n| format!("{}\n", n.wrapping_mul(6_364_136_223_846_793_005)))
        .collect();
    fs::write(&input, lines).expect("write lines");
    identical_everywhere(
        "sort",
        &["--parallel=4", "-S", "4M", &input.display().to_string()],
        None,
    );
}

#[test]
fn java() {
    identical_everywhere("java", &["-Xshare:auto", "-Xmx64m", "-version"], None);
}
