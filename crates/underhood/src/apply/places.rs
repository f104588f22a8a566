//! Where things lie: for one user, or for the machine; for real, or below another root.

use std::path::{Path, PathBuf};

use crate::exit::{COMMAND_FAILED, Failure};

/// The name of every file that we put into a folder of settings; the number puts it behind the system's own.
pub const DROP_IN: &str = "60-underhood.conf";

/// Whose settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One user's.
    User,
    /// The machine's.
    System,
}

/// The places of a scope. Paths are what programs will see; [`Places::on_disk`] tells where that is now.
#[derive(Clone, Debug)]
pub struct Places {
    /// Whose.
    pub scope: Scope,
    root: Option<PathBuf>,
    /// The user's folder of settings; `/etc` for the machine.
    config: PathBuf,
    /// Libraries and the ledger.
    data: PathBuf,
}

impl Places {
    /// The places of a scope; below `root` when one is given, as when another system is prepared.
    pub fn of(scope: Scope, root: Option<&Path>) -> Result<Self, Failure> {
        let (config, data) = match scope {
            Scope::System => (PathBuf::from("/etc"), PathBuf::from("/var/lib/underhood")),
            Scope::User => (
                user_folder("XDG_CONFIG_HOME", ".config")?,
                user_folder("XDG_DATA_HOME", ".local/share")?.join("underhood"),
            ),
        };
        let root = match root {
            Some(root) => Some(std::path::absolute(root).map_err(|error| {
                Failure::new(COMMAND_FAILED, format!("resolve {}: {error}", root.display()))
            })?),
            None => None,
        };
        Ok(Self {
            scope,
            root,
            config,
            data,
        })
    }

    /// Where a path is now.
    pub fn on_disk(&self, path: &Path) -> PathBuf {
        match &self.root {
            Some(root) => root.join(path.strip_prefix("/").unwrap_or(path)),
            None => path.to_owned(),
        }
    }

    /// Whether this is the running system and not one that is being prepared.
    pub fn is_real(&self) -> bool {
        self.root.is_none()
    }

    /// The mode of folders that have to be created: a user's are nobody else's business.
    pub fn folder_mode(&self) -> u32 {
        match self.scope {
            Scope::User => 0o700,
            Scope::System => 0o755,
        }
    }

    /// The folder of the records of changes.
    pub fn ledger(&self) -> PathBuf {
        self.data.join("undo")
    }

    /// The folder of copied libraries.
    pub fn libraries(&self) -> PathBuf {
        match self.scope {
            Scope::User => self.data.join("lib"),
            Scope::System => PathBuf::from("/usr/local/lib/underhood"),
        }
    }

    /// The file of environment variables that systemd gives to a user's session, environment.d(5).
    pub fn environment_file(&self) -> PathBuf {
        self.config.join("environment.d").join(DROP_IN)
    }

    /// The rules that the selector reads where no variable holds any.
    pub fn rules_file(&self) -> PathBuf {
        self.config.join("underhood/heap-select")
    }

    /// The libraries that the loader puts into every program, ld.so(8).
    pub fn preload_file(&self) -> PathBuf {
        self.config.join("ld.so.preload")
    }

    /// The drop-in of a unit, systemd.unit(5).
    pub fn unit_file(&self, unit: &str) -> PathBuf {
        let kind = match self.scope {
            Scope::User => "systemd/user",
            Scope::System => "systemd/system",
        };
        self.config.join(kind).join(format!("{unit}.d")).join(DROP_IN)
    }
}

/// A folder of the XDG Base Directory Specification; a relative path in the variable does not count.
fn user_folder(variable: &str, below_home: &str) -> Result<PathBuf, Failure> {
    let absolute = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    absolute(variable)
        .or_else(|| absolute("HOME").map(|home| home.join(below_home)))
        .ok_or_else(|| {
            Failure::new(
                COMMAND_FAILED,
                format!("find the user's folders: neither {variable} nor HOME is set to an absolute path"),
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_moves_the_file_and_not_its_name() {
        let places = Places::of(Scope::System, Some(Path::new("/mnt/image"))).unwrap();
        assert_eq!(places.preload_file(), Path::new("/etc/ld.so.preload"));
        assert_eq!(
            places.on_disk(&places.preload_file()),
            Path::new("/mnt/image/etc/ld.so.preload")
        );
        assert_eq!(
            places.unit_file("a.service"),
            Path::new("/etc/systemd/system/a.service.d/60-underhood.conf")
        );
    }
}
