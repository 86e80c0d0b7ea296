//! Random inputs for everything in this workspace that parses input from outside: URLs, cursors, files, replies and
//! rows.
//!
//! Each function takes inputs that the parser knows, changes them in a few places at random, and passes them to a
//! check, which panics if the parser misbehaves. A test tries [`INPUTS`] inputs. A failure is shrunk and printed with
//! its seed, and `BOLERO_RANDOM_SEED` repeats it. `cargo xtask soak` tries as many as its time allows
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

/// The number of inputs that a test tries by default.
pub const INPUTS: usize = 3_000;

/// Checks edits of these texts. Bytes that an edit made invalid as UTF-8 become `U+FFFD`.
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

/// Checks edits of these values. An edit replaces, removes or duplicates a part of a value.
///
/// # Panics
///
/// If the check panics.
pub fn values(known: Vec<Value>, check: impl Fn(&Value) + RefUnwindSafe) {
    let target = bolero::check!().with_iterations(INPUTS).with_generator(EditedValue::of(known));
    target.for_each(check);
}
