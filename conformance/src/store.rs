//! To come.

use crate::case::cases;

cases! { Store: }
