//! Linux: sysfs for the machine, the scheduler's answer for ourselves.

use std::io;
use std::path::Path;

use super::{Cpu, sysfs};
use crate::thread::{self, CpuSet};

const SYSTEM: &str = "/sys/devices/system";

pub(super) fn cpus() -> io::Result<Vec<Cpu>> {
    Ok(sysfs::cpus(Path::new(SYSTEM), &online()?))
}

pub(super) fn online() -> io::Result<CpuSet> {
    match sysfs::online(Path::new(SYSTEM)) {
        Some(online) => Ok(online),
        // Sandboxes may hide sysfs; what we may use is certainly online.
        None => allowed(),
    }
}

pub(super) fn allowed() -> io::Result<CpuSet> {
    thread::current_affinity()
}
