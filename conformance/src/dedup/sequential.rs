//! One caller, one call after another.

pub(super) mod fingerprints;
pub(super) mod leases;
pub(super) mod records;
pub(super) mod reset;
pub(super) mod retention;
