use super::*;

#[cfg(target_os = "linux")]
#[test]
fn what_is_written_stays_in_the_process() {
    use std::io::{Read, Seek, Write};

    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&[7; 5000]).unwrap();
    let mut mapping = PrivateMapping::map(&file, 5000).unwrap();
    assert_eq!((mapping.read(4999), mapping.read(5000)), (7, 0));
    mapping.write(4999, 9);
    mapping.write(5000, 9);
    assert_eq!(mapping.read(4999), 9);
    drop(mapping);
    file.rewind().unwrap();
    let mut content = Vec::new();
    file.read_to_end(&mut content).unwrap();
    assert_eq!(content, [7; 5000]);
}

#[test]
fn a_file_that_is_too_short_is_refused() {
    let file = tempfile::tempfile().unwrap();
    for length in [0, 1] {
        let error = PrivateMapping::map(&file, length).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}
