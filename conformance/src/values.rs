//! To come.

use crate::case::cases;

cases! { Values: }
