//! To come.

use crate::case::cases;

cases! { Deduplicator: }
