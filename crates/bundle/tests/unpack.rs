//! The promises of `unpack`, each broken on purpose from outside.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use underhood_bundle::{Kind, UnpackError, artifacts, find, unpack_below};

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .expect("the folder can be read")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}

#[test]
fn every_file_is_carried_under_its_hash() {
    use sha2::{Digest, Sha256};
    let scratch = scratch();
    for artifact in artifacts() {
        let hash: String = Sha256::digest(artifact.bytes)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(artifact.sha256, hash, "{}", artifact.name);
        let path = unpack_below(scratch.path(), artifact.name).expect("unpacked");
        assert!(
            path.ends_with(PathBuf::from(artifact.sha256).join(artifact.file_name)),
            "{}",
            path.display()
        );
        assert_eq!(
            fs::read(&path).expect("readable"),
            artifact.bytes,
            "{}",
            artifact.name
        );
    }
}

#[test]
fn names_are_unique_and_the_worker_is_there() {
    let mut names: Vec<_> = artifacts().iter().map(|artifact| artifact.name).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
    assert_eq!(find("worker").map(|artifact| artifact.kind), Some(Kind::Worker));
}

/// A heap that needs a newer C library than our own programs could be offered where it cannot be loaded.
#[test]
fn what_is_preloaded_needs_no_newer_c_library_than_our_programs() {
    let worker = find("worker").expect("carried");
    for artifact in artifacts() {
        assert!(
            artifact.glibc_needed <= worker.glibc_needed,
            "{} needs glibc {:?}, the worker {:?}",
            artifact.name,
            artifact.glibc_needed,
            worker.glibc_needed
        );
    }
}

#[test]
fn an_unknown_name_is_answered_with_what_there_is() {
    let error = unpack_below(scratch().path(), "hoard").expect_err("nobody carries it");
    assert!(matches!(error, UnpackError::Unknown { .. }));
    assert!(error.to_string().contains("worker"), "{error}");
}

#[test]
fn the_unpacked_worker_runs() {
    let scratch = scratch();
    let worker = unpack_below(scratch.path(), "worker").expect("unpacked");
    Command::new(worker)
        .arg("--version")
        .output()
        .expect("the system can start it");
}

#[test]
fn a_right_file_is_left_alone_and_a_damaged_one_is_replaced() {
    let scratch = scratch();
    let path = unpack_below(scratch.path(), "worker").expect("unpacked");
    let first = fs::metadata(&path).and_then(|m| m.modified()).expect("a time");
    unpack_below(scratch.path(), "worker").expect("found again");
    assert_eq!(
        fs::metadata(&path).and_then(|m| m.modified()).expect("a time"),
        first
    );

    let right = fs::read(&path).expect("readable");
    let mut flipped = right.clone();
    *flipped.last_mut().expect("not empty") ^= 1;
    for damage in [&flipped[..], &right[..right.len() / 2], &[]] {
        fs::remove_file(&path).expect("ours to remove");
        fs::write(&path, damage).expect("ours to damage");
        assert_eq!(unpack_below(scratch.path(), "worker").expect("repaired"), path);
        assert_eq!(fs::read(&path).expect("readable"), right);
    }
    assert_eq!(
        names_in(path.parent().expect("a folder")).len(),
        1,
        "nothing unfinished is left"
    );
}

#[test]
fn many_at_once_all_get_the_whole_file() {
    let scratch = scratch();
    let worker = find("worker").expect("carried");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let path = unpack_below(scratch.path(), "worker").expect("unpacked");
                assert_eq!(fs::read(path).expect("readable"), worker.bytes);
            });
        }
    });
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn linux_gets_its_launcher_and_all_heaps() {
    let names: Vec<_> = artifacts().iter().map(|artifact| artifact.name).collect();
    for name in [
        "worker",
        "launcher",
        "selector",
        "mimalloc",
        "jemalloc",
        "snmalloc",
        "single_lock",
        "single_lock_spin",
        "single_lock_kernel",
    ] {
        assert!(names.contains(&name), "{name} is not among {names:?}");
    }
    let launcher = find("launcher").expect("carried");
    assert_eq!(
        (launcher.kind, launcher.glibc_needed),
        (Kind::Launcher, None),
        "it is static"
    );
}

#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
#[test]
fn the_guard_is_carried_where_programs_can_be_bound() {
    let guard = find("guard").expect("carried");
    assert_eq!(
        (guard.kind, guard.glibc_needed),
        (Kind::Guard, None),
        "it needs nobody"
    );
    assert!(guard.bytes.starts_with(b"\x7fELF"));
}

#[cfg(unix)]
mod on_unix {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("ours to change");
    }

    #[test]
    fn only_the_user_can_look_inside() {
        let scratch = scratch();
        let path = unpack_below(scratch.path(), "worker").expect("unpacked");
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o500);
        assert_eq!(mode(path.parent().expect("hash")), 0o700);
    }

    #[test]
    fn a_folder_that_others_can_write_to_is_refused() {
        let scratch = scratch();
        let path = unpack_below(scratch.path(), "worker").expect("unpacked");
        let folder = path.parent().expect("hash");
        set_mode(folder, 0o770);
        let error = unpack_below(scratch.path(), "worker").expect_err("others can write");
        assert!(error.to_string().contains("chmod go-w"), "{error}");
        set_mode(folder, 0o700);
        unpack_below(scratch.path(), "worker").expect("fine again");
    }

    #[test]
    fn a_base_that_others_can_write_to_is_refused() {
        let scratch = scratch();
        let open = scratch.path().join("open");
        fs::create_dir(&open).expect("created");
        set_mode(&open, 0o777);
        let error = unpack_below(&open, "worker").expect_err("others can rename things in it");
        assert!(error.to_string().contains("others"), "{error}");
        set_mode(&open, 0o755);
        unpack_below(&open, "worker").expect("reading does no harm");
    }

    /// Root may write anywhere, so this shows a folder in which nobody can.
    #[test]
    fn a_base_that_cannot_be_written_to_is_named_with_the_reason() {
        let error =
            unpack_below(Path::new("/proc/underhood"), "worker").expect_err("no files can be made there");
        assert!(matches!(error, UnpackError::NoPlace { .. }));
        assert!(error.to_string().contains("XDG_CACHE_HOME"), "{error}");
    }

    #[test]
    fn a_planted_link_is_refused_or_replaced() {
        let scratch = scratch();
        let elsewhere = scratch.path().join("elsewhere");
        fs::create_dir(&elsewhere).expect("created");
        let base = scratch.path().join("base");
        fs::create_dir(&base).expect("created");
        symlink(&elsewhere, base.join("bundle")).expect("linked");
        let error = unpack_below(&base, "worker").expect_err("a link instead of a folder");
        assert!(error.to_string().contains("symbolic link"), "{error}");

        fs::remove_file(base.join("bundle")).expect("removed");
        let path = unpack_below(&base, "worker").expect("unpacked");
        fs::remove_file(&path).expect("removed");
        symlink("/bin/true", &path).expect("linked");
        unpack_below(&base, "worker").expect("replaced");
        assert!(fs::symlink_metadata(&path).expect("there").is_file());
    }

    #[test]
    fn a_file_that_lost_its_mode_is_replaced() {
        let scratch = scratch();
        let path = unpack_below(scratch.path(), "worker").expect("unpacked");
        set_mode(&path, 0o400);
        unpack_below(scratch.path(), "worker").expect("replaced");
        assert_eq!(
            fs::metadata(&path).expect("there").permissions().mode() & 0o777,
            0o500
        );
    }

    #[test]
    fn preloaded_files_get_paths_that_the_loader_can_be_given() {
        let scratch = scratch();
        let base = scratch.path().join("with blank");
        unpack_below(&base, "worker").expect("programs may live anywhere");
        for heap in artifacts()
            .iter()
            .filter(|artifact| matches!(artifact.kind, Kind::Heap | Kind::Selector))
        {
            let error = unpack_below(&base, heap.name).expect_err("a blank ends a path in LD_PRELOAD");
            assert!(error.to_string().contains("LD_PRELOAD"), "{error}");
        }
    }
}
