use std::fs;

use super::*;

#[test]
fn the_places_are_apart() {
    // The places themselves are the user's; nothing is made there by a test.
    let places = [
        imp::data_path().unwrap(),
        imp::cache_path().unwrap(),
        imp::runtime_path().unwrap(),
    ];
    for place in &places {
        assert!(place.is_absolute(), "{place:?}");
        assert!(
            place.to_string_lossy().to_lowercase().contains("underhood"),
            "{place:?}"
        );
    }
    assert_ne!(places[0], places[1]);
    assert_ne!(places[1], places[2]);
}

#[test]
fn folders_are_made_with_those_above_and_accepted_again() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("a/b");
    make_private(&folder).unwrap();
    assert!(folder.is_dir());
    make_private(&folder).unwrap();
    let file = root.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(make_private(&file).is_err());
}

#[cfg(target_os = "linux")]
#[test]
fn folders_that_others_could_change_are_refused() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("a");
    make_private(&folder).unwrap();
    assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    let link = root.path().join("link");
    symlink(&folder, &link).unwrap();
    let error = make_private(&link).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    assert!(error.to_string().contains("symbolic link"), "{error}");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    let error = make_private(&folder).unwrap_err();
    assert!(error.to_string().contains("chmod"), "{error}");
}
