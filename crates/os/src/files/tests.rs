use std::fs;

use super::*;

#[test]
fn a_file_is_replaced_whole_and_keeps_its_attributes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "old").unwrap();
    let before = Attributes {
        mode: 0o640,
        ..attributes(&fs::metadata(&path).unwrap())
    };
    write(&path, b"new", before).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    let after = attributes(&fs::metadata(&path).unwrap());
    assert_eq!((after.user, after.group), (before.user, before.group));
    if cfg!(target_os = "linux") {
        assert_eq!(after.mode, 0o640);
        assert_eq!(own_attributes(0o640), before);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_failed_write_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let taken = folder.path().join("folder");
    fs::create_dir_all(taken.join("full")).unwrap();
    write(&taken, b"new", own_attributes(0o644)).unwrap_err();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    write(&folder.path().join("missing/file"), b"", own_attributes(0o644)).unwrap_err();
}

#[test]
fn missing_folders_are_created_and_named() {
    let base = tempfile::tempdir().unwrap();
    let (outer, inner) = (base.path().join("a"), base.path().join("a/b"));
    assert_eq!(
        create_folders(&inner, 0o750).unwrap(),
        [outer.clone(), inner.clone()]
    );
    assert_eq!(create_folders(&inner, 0o750).unwrap(), [""; 0].map(PathBuf::from));
    if cfg!(target_os = "linux") {
        assert_eq!(attributes(&fs::metadata(&outer).unwrap()).mode, 0o750);
    }
}
