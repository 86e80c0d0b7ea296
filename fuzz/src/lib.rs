//! Inputs that nobody chose, for everything of this workspace that reads what came from outside: URLs, cursors, files,
//! replies and rows.
//!
//! Each function begins with inputs that the reader knows, changes them in a few places at random, and passes them to a
//! check, which panics if the reader does what it must not. [`INPUTS`] of them are tried; a failure is shrunk and printed
//! with its seed, and `BOLERO_RANDOM_SEED` repeats it. `cargo xtask soak` tries as many as its time allows
//! (`BOLERO_RANDOM_ITERATIONS`, `BOLERO_RANDOM_TEST_TIME_MS`).
//!
//! ```
//! storagebox_fuzz::texts(&["0", "-7", "9223372036854775807"], |text| {
//!     if let Ok(number) = text.parse::<i64>() {
//!         assert_eq!(number.to_string().parse(), Ok(number));
//!     }
//! });
//! ```

mod bytes;
mod value;

use std::panic::RefUnwindSafe;

pub use bytes::Edited;
pub use value::{EditedValue, Value};

/// How many inputs a test tries, if nobody asks for others.
pub const INPUTS: usize = 3_000;

/// Checks edits of these texts. What an edit broke in the encoding is `U+FFFD`.
///
/// # Panics
///
/// If the check panics.
pub fn texts(known: &[&str], check: impl Fn(&str) + RefUnwindSafe) {
    bytes(known, |bytes| check(&String::from_utf8_lossy(bytes)));
}

/// Checks edits of these bytes.
///
/// # Panics
///
/// If the check panics.
pub fn bytes(known: &[impl AsRef<[u8]>], check: impl Fn(&[u8]) + RefUnwindSafe) {
    let known = known.iter().map(|bytes| bytes.as_ref().to_vec()).collect();
    let target = bolero::check!().with_iterations(INPUTS).with_generator(Edited::of(known));
    target.for_each(|bytes: &Vec<u8>| check(bytes));
}

/// Checks edits of these values: other values in the place of parts of them, parts that are missing or twice.
///
/// # Panics
///
/// If the check panics.
pub fn values(known: Vec<Value>, check: impl Fn(&Value) + RefUnwindSafe) {
    let target = bolero::check!().with_iterations(INPUTS).with_generator(EditedValue::of(known));
    target.for_each(check);
}
