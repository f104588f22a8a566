//! PE files as they are found and as they are made for the purpose: what is read, loaded, rebased and bound is right.

mod hostile;
mod loader;
mod sample;
mod system;
mod tools;
