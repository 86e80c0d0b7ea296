//! Checks whether *some* order in which the calls took effect one by one explains the replies that clients saw.
//!
//! A [`Recorder`] writes down the history of a run: every invocation before the call, every response
//! after it. [`check`] then decides whether the history of one key is linearizable with respect to a
//! sequential [`Specification`]. Its algorithm is Lowe's *just-in-time linearization* ("Testing for
//! linearizability", 2017): a set of configurations is pushed through the events, and an attempt takes
//! effect no earlier than some response needs it to.
//!
//! What is recorded are attempts, not logical operations: a call that is repeated is a second attempt.
//! An attempt without a response has an unknown outcome. It may take effect at any later point, once, or
//! never, so it stays pending until the end of the history.
//!
//! ```
//! use storagebox_conformance::history::{Limits, Recorder, Specification, check};
//!
//! /// A voucher that the first customer gets.
//! struct Voucher;
//!
//! impl Specification for Voucher {
//!     type State = bool;
//!     type Op = &'static str;
//!     type Reply = bool;
//!
//!     fn initial(&self) -> bool {
//!         true
//!     }
//!
//!     fn step(&self, available: &bool, _op: &&'static str) -> Vec<(bool, bool)> {
//!         vec![(false, *available)]
//!     }
//! }
//!
//! let recorder = Recorder::new();
//! let timed_out = recorder.invoke(0, "redeem");
//! recorder.invoke(1, "redeem").respond(false);
//! drop(timed_out);
//!
//! // Client 1 may well be refused: the call that timed out may have redeemed the voucher.
//! let verdict = check(&Voucher, &recorder.history(), Limits::default());
//! assert!(verdict.is_linearizable(), "{verdict}");
//! ```

mod attempt;
mod checker;
mod recorder;
mod relevant;
mod specification;
mod verdict;
mod violation;

pub use attempt::{Attempt, History};
pub use checker::check;
pub use recorder::{Pending, Recorder};
pub use specification::Specification;
pub use verdict::{Exceeded, Limits, Verdict};
pub use violation::Violation;
