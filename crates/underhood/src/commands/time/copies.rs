//! Copies of a program in several folders, to compare what the file systems below them cost.

use std::path::{Path, PathBuf};

use measure::command::launch::Command;
use tempfile::TempDir;

use crate::exit::Failure;
use crate::scratch;

/// A copy of the command in each folder. The folders made for them are removed with the second result.
pub fn make(
    command: &Command,
    files: &[PathBuf],
    folders: &[PathBuf],
) -> Result<(Vec<Command>, Vec<TempDir>), Failure> {
    let path = std::env::var_os("PATH");
    let program = os::loader::find_in_path(command.program.as_os_str(), path.as_deref())
        .map_err(|error| Failure::usage(error.to_string()))?;
    let program = program.canonicalize()?;
    let mut commands = Vec::new();
    let mut kept = Vec::new();
    for folder in folders {
        let copy = scratch::folder(folder)
            .map_err(|error| Failure::usage(format!("copy into {}: {error}", folder.display())))?;
        let copied = copy_beside(&program, files, copy.path())
            .map_err(|error| Failure::usage(format!("copy into {}: {error}", folder.display())))?;
        commands.push(Command {
            name: format!("{} in {}", command.name, folder.display()),
            program: copied,
            ..command.clone()
        });
        kept.push(copy);
    }
    Ok((commands, kept))
}

/// A bound copy of the command. The folder made for it is removed with the second result.
pub fn bound(command: &Command) -> Result<(Command, TempDir), Failure> {
    let (document, folder) = crate::bound::temporary(&command.program, true)?;
    let copy = Command {
        name: format!("{}, bound", command.name),
        program: PathBuf::from(document.copy),
        ..command.clone()
    };
    Ok((copy, folder))
}

/// Copies the program and those of its files that lie in its own folder or below; returns the new program.
fn copy_beside(program: &Path, files: &[PathBuf], to: &Path) -> std::io::Result<PathBuf> {
    let home = program.parent().unwrap_or(Path::new("/"));
    let own = files.iter().filter(|file| file.starts_with(home));
    for file in own.map(PathBuf::as_path).chain([program]) {
        let target = to.join(file.strip_prefix(home).unwrap_or(file));
        if let Some(parent) = target.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::copy(file, &target)?;
    }
    Ok(to.join(program.strip_prefix(home).unwrap_or(program)))
}
