//! The report of an ELF file.
