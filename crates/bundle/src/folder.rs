//! Folders to which nobody else can write.
//!
//! A library that is preloaded into every command, or a program that starts them, is as trusted as the user
//! who runs Underhood. So the folders that hold them are created for this user alone, and
//! what is found there is believed only when nobody else could have put it there.

use std::fs;
use std::path::{Path, PathBuf};

/// Where carried files may be unpacked, best first: the user's cache, then a folder for this session.
pub(crate) fn candidates() -> Vec<PathBuf> {
    imp::candidates()
}

/// Creates `base/parts...`, each folder for this user alone, checks that it is so, and returns the path.
///
/// `base` itself may belong to the system; what leads to it may too, as long as others cannot rename
/// things in it. Errors are sentences' ends that say which folder is wrong, and why.
pub(crate) fn private(base: &Path, parts: &[&str]) -> Result<PathBuf, String> {
    if !base.is_absolute() {
        return Err("not an absolute path".to_owned());
    }
    imp::create(base).map_err(|e| format!("create it: {e}"))?;
    // Links on the way to the base are the user's business; from here on they would be an attack.
    let mut folder = fs::canonicalize(base).map_err(|e| format!("resolve it: {e}"))?;
    for ancestor in folder.ancestors() {
        imp::check_ancestor(ancestor)?;
    }
    for part in parts {
        folder.push(part);
        imp::create(&folder).map_err(|e| format!("create {}: {e}", folder.display()))?;
        imp::check_own(&folder)?;
    }
    imp::check_executable_mount(&folder)?;
    Ok(folder)
}

pub(crate) use imp::executable;
pub(crate) use imp::is_executable;

#[cfg(unix)]
mod imp {
    use std::env;
    use std::fs::{self, DirBuilder, Metadata, OpenOptions};
    use std::io;
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
    use std::path::{Path, PathBuf};

    pub(crate) fn candidates() -> Vec<PathBuf> {
        let absolute = |name: &str| {
            env::var_os(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let cache = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
        let session = absolute("XDG_RUNTIME_DIR");
        let shared = env::temp_dir().join(format!("underhood-{}", user().unwrap_or_default()));
        cache
            .into_iter()
            .chain(session)
            .map(|base| base.join("underhood"))
            .chain([shared])
            .collect()
    }

    pub(crate) fn create(folder: &Path) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)
    }

    pub(crate) fn executable(options: &mut OpenOptions) {
        options.mode(0o500);
    }

    pub(crate) fn is_executable(metadata: &Metadata) -> bool {
        metadata.mode() & 0o500 == 0o500
    }

    /// The owner of what this process creates.
    fn user() -> io::Result<u32> {
        fs::metadata("/proc/self").map(|m| m.uid())
    }

    pub(crate) fn check_ancestor(folder: &Path) -> Result<(), String> {
        let (metadata, user) = facts(folder)?;
        if metadata.uid() != user && metadata.uid() != 0 {
            return Err(format!("{} belongs to user {}", folder.display(), metadata.uid()));
        }
        const STICKY: u32 = 0o1000;
        if metadata.mode() & 0o002 != 0 && metadata.mode() & STICKY == 0 {
            return Err(format!("everybody can rename things in {}", folder.display()));
        }
        Ok(())
    }

    pub(crate) fn check_own(folder: &Path) -> Result<(), String> {
        let (metadata, user) = facts(folder)?;
        if !metadata.is_dir() {
            return Err(format!("{} is not a folder", folder.display()));
        }
        if metadata.uid() != user {
            return Err(format!(
                "{} belongs to user {}, not to you",
                folder.display(),
                metadata.uid()
            ));
        }
        if metadata.mode() & 0o022 != 0 {
            return Err(format!("others can write to {}; chmod go-w it", folder.display()));
        }
        Ok(())
    }

    fn facts(folder: &Path) -> Result<(Metadata, u32), String> {
        let metadata =
            fs::symlink_metadata(folder).map_err(|e| format!("look at {}: {e}", folder.display()))?;
        Ok((
            metadata,
            user().map_err(|e| format!("learn who you are from /proc/self: {e}"))?,
        ))
    }

    /// Refuses file systems from which nothing can be executed.
    ///
    /// Source: proc_pid_mountinfo(5): field 5 is the mount point, with blanks as octal escapes; field 6 the options.
    pub(crate) fn check_executable_mount(folder: &Path) -> Result<(), String> {
        let Ok(mounts) = fs::read_to_string("/proc/self/mountinfo") else {
            return Ok(());
        };
        let mut nearest = (0, false);
        for line in mounts.lines() {
            let mut fields = line.split(' ').skip(4);
            let (Some(point), Some(options)) = (fields.next(), fields.next()) else {
                continue;
            };
            let point = point.replace("\\040", " ");
            // A later mount on the same point covers the earlier one.
            if folder.starts_with(&point) && point.len() >= nearest.0 {
                nearest = (point.len(), options.split(',').any(|option| option == "noexec"));
            }
        }
        if nearest.1 {
            Err("it is mounted noexec".to_owned())
        } else {
            Ok(())
        }
    }
}

#[cfg(not(unix))]
mod imp {
    use std::env;
    use std::fs::{self, Metadata, OpenOptions};
    use std::io;
    use std::path::{Path, PathBuf};

    pub(crate) fn candidates() -> Vec<PathBuf> {
        let local = env::var_os("LOCALAPPDATA")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute());
        local
            .into_iter()
            .chain([env::temp_dir()])
            .map(|base| base.join("underhood"))
            .collect()
    }

    pub(crate) fn create(folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)
    }

    pub(crate) fn executable(_: &mut OpenOptions) {}

    pub(crate) fn is_executable(_: &Metadata) -> bool {
        true
    }

    // Folders below a user's profile inherit access rights that keep other users out.
    pub(crate) fn check_ancestor(_: &Path) -> Result<(), String> {
        Ok(())
    }

    pub(crate) fn check_own(_: &Path) -> Result<(), String> {
        Ok(())
    }

    pub(crate) fn check_executable_mount(_: &Path) -> Result<(), String> {
        Ok(())
    }
}
