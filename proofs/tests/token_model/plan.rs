//! The variants of the algorithm: what is one step of a store, and which precautions are taken.

/// A variant of the algorithm, with the steps that are combined and the precautions that are taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Whether the incoming token is read in one step with the entity.
    pub(crate) reads_at_once: bool,
    /// Whether the incoming token is consumed in one step with the change.
    pub(crate) consumes_at_commit: bool,
    /// Whether outgoing tokens are created and chosen in one step with the change.
    pub(crate) creates_at_commit: bool,
    pub(crate) checkpoint: Checkpoint,
    pub(crate) ids: Ids,
    /// Whether a worker writes its token id into the entry before the worker creates the token, so that other workers
    /// can discard the token.
    pub(crate) registers: bool,
    pub(crate) cleanup: Cleanup,
    /// Whether consumed and discarded tokens cannot be created any more.
    pub(crate) tombstones: bool,
    /// Whether the change is written only if the entity has not changed since it was loaded.
    pub(crate) compares: bool,
    pub(crate) checks_first: bool,
    pub(crate) removes_first: bool,
    /// Whether a deletion of the entity leaves nothing behind, not even the entity's version.
    pub(crate) forgets: bool,
    pub(crate) stale_tokens: bool,
    pub(crate) expires: bool,
    /// Whether a request to create a token may be applied twice.
    pub(crate) resends: bool,
}

/// How an entry records the tokens with which messages are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checkpoint {
    /// The tokens are not recorded.
    None,
    /// The tokens are recorded by a write of the whole entity, if the entity has not changed since it was loaded.
    Whole,
    /// The tokens are recorded in a field of the entry, if the field is empty.
    Field,
    /// The tokens are recorded in a field of the entry, and replace any recorded tokens.
    Unconditional,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ids {
    OfTheMessage,
    OfTheAttempt,
}

/// What happens to an entry whose message turns out to be a duplicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cleanup {
    None,
    /// The entry is removed if it existed when the entity was loaded.
    Snapshot,
    /// The worker loads the entity again before it concludes that there is no entry.
    Reread,
}

impl Plan {
    /// The variant of the article's last version.
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

    /// The variant with the entity and the tokens in separate stores.
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
