//! Unique ids, for the parts of the core that create their own.

use std::fmt::Debug;

use uuid::Uuid;

/// Creates ids that never repeat. Tests supply predictable ids; programs use [`RandomIds`].
pub trait Ids: Debug + Send + Sync {
    /// Returns a text of 1 to 64 bytes that no other call, in any process, has returned.
    fn fresh(&self) -> String;
}

/// Random ids (UUID version 7). Uniqueness depends on their 74 random bits, never on the clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomIds;

impl Ids for RandomIds {
    #[allow(clippy::disallowed_methods, reason = "the one place where ids are made")]
    fn fresh(&self) -> String {
        Uuid::now_v7().simple().encode_lower(&mut Uuid::encode_buffer()).to_owned()
    }
}
