use std::io::Write as _;

use super::*;

#[test]
fn a_file_goes_out_of_memory_and_comes_back() {
    // Not in a folder that may be in memory altogether.
    let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let path = folder.path().join("file");
    std::fs::File::create(&path)
        .unwrap()
        .write_all(&[7; 1 << 20])
        .unwrap();
    assert_eq!(resident(&path).unwrap(), 1 << 20);
    evict(&path).unwrap();
    assert_eq!(resident(&path).unwrap(), 0);
    assert_eq!(std::fs::read(&path).unwrap(), [7; 1 << 20]);
    assert_eq!(resident(&path).unwrap(), 1 << 20);
}

#[test]
fn no_file_is_an_error() {
    assert!(evict(Path::new("/nowhere/at/all")).is_err());
    assert!(resident(Path::new("/nowhere/at/all")).is_err());
}
