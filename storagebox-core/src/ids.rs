//! Fresh ids, for those parts of the core that make their own.

use std::fmt::Debug;

use uuid::Uuid;

/// Makes ids that never repeat. Tests supply ones that can be named; programs use [`RandomIds`].
pub trait Ids: Debug + Send + Sync {
    /// A text of 1 to 64 bytes that no other call, in any process, has returned.
    fn fresh(&self) -> String;
}

/// Random ids (UUID version 7). Uniqueness rests on their 74 random bits, never on the clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomIds;

impl Ids for RandomIds {
    #[allow(clippy::disallowed_methods, reason = "the one place where ids are made")]
    fn fresh(&self) -> String {
        Uuid::now_v7().simple().to_string()
    }
}
