//! The versioned JSON documents of docs/FORMAT.md.
