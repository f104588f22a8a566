//! Every ELF file of the system.
