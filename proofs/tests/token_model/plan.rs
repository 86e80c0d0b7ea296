//! How the algorithm is put together: what is one step of a store, and which precautions are taken.

/// The steps of an endpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// The incoming token is read in one step with the entity.
    pub(crate) reads_at_once: bool,
    /// The incoming token is consumed in one step with the change.
    pub(crate) consumes_at_commit: bool,
    /// Outgoing tokens are created, and chosen, in one step with the change.
    pub(crate) creates_at_commit: bool,
    pub(crate) checkpoint: Checkpoint,
    pub(crate) ids: Ids,
    /// Ids are noted in the entry before they are created, so that whoever ends the message discards the others.
    pub(crate) registers: bool,
    pub(crate) cleanup: Cleanup,
    /// What was consumed or discarded cannot be created any more.
    pub(crate) tombstones: bool,
    /// The change is written only if the entity is as it was loaded.
    pub(crate) compares: bool,
    pub(crate) checks_first: bool,
    pub(crate) removes_first: bool,
    /// The handler deletes the entity, and nothing is left of it, not even its version.
    pub(crate) forgets: bool,
    pub(crate) stale_tokens: bool,
    pub(crate) expires: bool,
    /// A creation may land again after it has landed.
    pub(crate) resends: bool,
}

/// How it is written down which tokens are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checkpoint {
    /// It is not.
    None,
    /// With the whole entity, which must be as it was loaded.
    Whole,
    /// In its field of the entry, if that is empty.
    Field,
    /// In its field of the entry, whatever is there.
    Unconditional,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ids {
    OfTheMessage,
    OfTheAttempt,
}

/// What becomes of an entry whose message is found to be a duplicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cleanup {
    None,
    /// It goes if it was there when the entity was loaded.
    Snapshot,
    /// The entity is loaded again.
    Reread,
}

impl Plan {
    /// As the article ends.
    pub(crate) const ARTICLE: Self = Self {
        reads_at_once: false,
        consumes_at_commit: false,
        creates_at_commit: false,
        checkpoint: Checkpoint::Whole,
        ids: Ids::OfTheAttempt,
        registers: false,
        cleanup: Cleanup::None,
        tombstones: false,
        compares: true,
        checks_first: false,
        removes_first: false,
        forgets: false,
        stale_tokens: false,
        expires: false,
        resends: false,
    };

    /// The entity and both kinds of tokens in stores of their own.
    pub(crate) const SPLIT: Self = Self {
        checkpoint: Checkpoint::Field,
        registers: true,
        cleanup: Cleanup::Reread,
        tombstones: true,
        ..Self::ARTICLE
    };

    pub(crate) const OUTGOING: Self = Self { creates_at_commit: true, ..Self::SPLIT };
    pub(crate) const INCOMING: Self = Self { reads_at_once: true, consumes_at_commit: true, ..Self::SPLIT };
    pub(crate) const JOINED: Self = Self { creates_at_commit: true, ..Self::INCOMING };
}
