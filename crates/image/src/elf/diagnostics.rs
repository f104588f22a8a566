//! What a loader says about itself: `ld.so --list-diagnostics` (since glibc 2.33), lines of a name and a value.

use super::Machine;
use super::cache::Hardware;
use super::search::Loader;

impl Loader {
    /// The loader that these diagnostics come from. What they do not say stays as in [`Loader::new`].
    #[must_use]
    pub fn of_diagnostics(machine: Machine, text: &str) -> Self {
        let mut loader = Self::new(machine);
        let value = |name: &str| {
            text.lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
                .map(str::trim)
        };
        let word =
            |name: &str| Some(value(name)?.trim_matches('"').to_owned()).filter(|word| !word.is_empty());
        let number = |name: &str| u64::from_str_radix(value(name)?.strip_prefix("0x")?, 16).ok();
        if let Some(dir) = word("dl_dst_lib") {
            loader.library_dir = dir;
        }
        let dirs: Vec<String> = text
            .lines()
            .filter_map(|line| line.strip_prefix("path.system_dirs[")?.split_once('='))
            .map(|(_, dir)| dir.trim().trim_matches('"').to_owned())
            .collect();
        if !dirs.is_empty() {
            loader.system_dirs = dirs;
        }
        if value("dl_platform").is_some() {
            loader.platform = word("dl_platform");
        }
        let active = number("dl_hwcaps_subdirs_active").unwrap_or(0);
        let levels = word("dl_hwcaps_subdirs").unwrap_or_default();
        loader.hardware = Hardware {
            levels: levels
                .split(':')
                .enumerate()
                .filter(|(bit, level)| !level.is_empty() && *bit < 64 && active >> bit & 1 == 1)
                .map(|(_, level)| level.to_owned())
                .collect(),
            features: number("dl_hwcap").unwrap_or(0),
            platform_bit: number("dl_string_platform").and_then(|bit| u32::try_from(bit).ok()),
        };
        // glibc 2.37 gave up the older subfolders, and no longer names what they are made of.
        if let Some(important) = number("dl_hwcap_important") {
            loader.older_names.push("tls".to_owned());
            loader.older_names.extend(loader.platform.clone());
            let features = important & loader.hardware.features;
            let named = older_features(machine)
                .iter()
                .filter(|(bit, _)| features >> bit & 1 == 1);
            loader
                .older_names
                .extend(named.map(|(_, name)| (*name).to_owned()));
        }
        loader
    }
}

/// The names of features in the older subfolders, the highest bit first.
const fn older_features(machine: Machine) -> &'static [(u32, &'static str)] {
    match machine {
        Machine::X86_64 => &[(2, "avx512_1"), (1, "x86_64"), (0, "sse2")],
        Machine::Aarch64 => &[(8, "atomics")],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loader_describes_itself() {
        let text = "dl_dst_lib=\"lib/x86_64-linux-gnu\"\ndl_hwcap=0x6\ndl_hwcap_important=0x6\n\
            dl_hwcaps_subdirs=\"x86-64-v4:x86-64-v3:x86-64-v2\"\ndl_hwcaps_subdirs_active=0x6\ndl_platform=\"haswell\"\n\
            dl_string_platform=0x32\npath.system_dirs[0x0]=\"/lib/x86_64-linux-gnu/\"\npath.system_dirs[0x1]=\"/lib/\"\n";
        let loader = Loader::of_diagnostics(Machine::X86_64, text);
        assert_eq!(loader.hardware.levels, ["x86-64-v3", "x86-64-v2"]);
        assert_eq!(loader.hardware.platform_bit, Some(50));
        assert_eq!(loader.older_names, ["tls", "haswell", "avx512_1", "x86_64"]);
        assert_eq!(loader.system_dirs, ["/lib/x86_64-linux-gnu/", "/lib/"]);
        assert_eq!(loader.subfolders().len(), 2 + 16);
        // A newer loader, or none that can be asked.
        let loader = Loader::of_diagnostics(Machine::X86_64, "dl_platform=\"haswell\"\n");
        assert_eq!(loader.subfolders(), [""]);
    }
}
