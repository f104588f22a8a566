//! The guard as a program: it starts what it guards as if it were not there, and steps aside when anything differs.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod damage;
mod fallback;
mod fills;
mod support;
mod surroundings;
mod template;
