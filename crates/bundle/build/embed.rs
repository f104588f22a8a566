//! Puts the finished files where `include_bytes!` finds them, with what is known about each.

use std::fs;
use std::path::{Path, PathBuf};

use object::LittleEndian;
use object::elf::FileHeader64;
use object::read::elf::FileHeader;
use sha2::{Digest, Sha256};

/// Copies the files to `OUT_DIR/carried` and writes `OUT_DIR/artifacts.rs`, the list of them.
pub fn write(files: &[PathBuf], out: &Path) -> Result<(), String> {
    let folder = out.join("carried");
    fs::create_dir_all(&folder).map_err(|e| format!("create {}: {e}", folder.display()))?;
    let mut list = String::from("&[\n");
    for file in files {
        let bytes = fs::read(file).map_err(|e| format!("read {}: {e}", file.display()))?;
        let file_name = file
            .file_name()
            .and_then(|name| name.to_str())
            .ok_or("a finished file has an odd name")?;
        let copy = folder.join(file_name);
        fs::write(&copy, &bytes).map_err(|e| format!("write {}: {e}", copy.display()))?;

        let (name, kind) = identity(file_name)?;
        let hash: String = Sha256::digest(&bytes)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let glibc =
            glibc_needed(&bytes).map_err(|e| format!("read the symbol versions of {file_name}: {e}"))?;
        list.push_str(&format!(
            "    Artifact {{ name: {name:?}, kind: Kind::{kind}, file_name: {file_name:?}, sha256: {hash:?}, \
             glibc_needed: {glibc:?}, bytes: include_bytes!({copy:?}) }},\n",
        ));
    }
    list.push_str("]\n");
    let path = out.join("artifacts.rs");
    fs::write(&path, list).map_err(|e| format!("write {}: {e}", path.display()))
}

/// `libunderhood_NAME.so` carries the heap NAME (or is the selector); `underhood-NAME` is a program of ours.
fn identity(file_name: &str) -> Result<(&str, &'static str), String> {
    let stem = file_name.split('.').next().unwrap_or(file_name);
    match stem
        .strip_prefix("libunderhood_")
        .or_else(|| stem.strip_prefix("underhood-"))
    {
        Some("worker") => Ok(("worker", "Worker")),
        Some("launcher") => Ok(("launcher", "Launcher")),
        Some("guard") => Ok(("guard", "Guard")),
        Some("selector") => Ok(("selector", "Selector")),
        Some(heap) if stem.starts_with("lib") => Ok((heap, "Heap")),
        _ => Err(format!(
            "an inner build made {file_name}, which has no place here; see build/embed.rs"
        )),
    }
}

/// The newest `GLIBC_x.y` symbol version that a 64-bit little-endian ELF file asks for; None for
/// static programs and for other formats.
///
/// Source: ELF gABI supplement, section `.gnu.version_r` (SHT_GNU_verneed).
fn glibc_needed(bytes: &[u8]) -> object::Result<Option<(u32, u32)>> {
    const ELF_64_BIT_LITTLE_ENDIAN: &[u8] = b"\x7fELF\x02\x01";
    if !bytes.starts_with(ELF_64_BIT_LITTLE_ENDIAN) {
        return Ok(None);
    }
    let header = FileHeader64::<LittleEndian>::parse(bytes)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, bytes)?;
    let Some((mut files, strings)) = sections.gnu_verneed(endian, bytes)? else {
        return Ok(None);
    };
    let strings = sections.strings(endian, bytes, strings)?;
    let mut newest = None;
    while let Some((_, mut versions)) = files.next()? {
        while let Some(version) = versions.next()? {
            let name = String::from_utf8_lossy(version.name(endian, strings)?);
            let numbers = name.strip_prefix("GLIBC_").and_then(|rest| rest.split_once('.'));
            if let Some((Ok(major), Ok(minor))) =
                numbers.map(|(a, b)| (a.parse::<u32>(), b.split('.').next().unwrap_or(b).parse::<u32>()))
            {
                newest = newest.max(Some((major, minor)));
            }
        }
    }
    Ok(newest)
}
