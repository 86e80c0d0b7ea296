//! One caller, one call after another.

pub(super) mod clock;
pub(super) mod ends;
pub(super) mod fingerprints;
pub(super) mod lapses;
pub(super) mod leases;
pub(super) mod pages;
pub(super) mod records;
pub(super) mod reset;
pub(super) mod retention;
