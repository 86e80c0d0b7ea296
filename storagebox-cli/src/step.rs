//! What was asked of a store, for the sentence that says that it failed and what to do next.

use std::fmt;

use storagebox::{Certainty, Error, ErrorKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Open,
    OpenNamespace,
    SetUp,
    Ping,
    Add,
    Take,
    Assign,
    Recover,
    Confirm,
    Release,
    Prolong,
    Retire,
    Show,
    FindHolder,
    Withdraw,
    Restore,
    Count,
    List,
    Record,
    Replace,
    Read,
    Forget,
    Begin,
    Extend,
    Complete,
    RecordRun,
    GiveBack,
    CreateTokens,
    LookForToken,
    Consume,
    Discard,
    Change,
    Cancel,
    ReadCounter,
    Compact,
    Put,
    Delete,
    Purge,
    Reset,
    Maintain,
    #[cfg(feature = "conform")]
    Certify,
    #[cfg(feature = "conform")]
    Remove,
    Close,
}

impl Step {
    /// What the person does next; the kinds are those of the contract.
    pub(crate) fn help(self, error: &Error) -> &'static str {
        match error.kind() {
            _ if error.is_retryable() && error.certainty() == Certainty::Unknown => {
                "it may have taken effect: run the same command again, which does nothing twice"
            }
            ErrorKind::OutcomeUnknown => {
                "it may have taken effect, and running this again may do it twice, because this strategy does not remember \
                 what was done: look at the value first"
            }
            ErrorKind::InvalidInput | ErrorKind::Misconfigured | ErrorKind::Unsupported if self == Self::Open => {
                "correct --url or STORAGEBOX_URL; the README of the backend shows how its URLs are written"
            }
            ErrorKind::Misconfigured if self == Self::OpenNamespace => {
                "open it as it was created, or use another namespace"
            }
            ErrorKind::Unsupported => "use what the error names instead, or another backend",
            ErrorKind::NotSetUp if self == Self::SetUp => {
                "setup makes what goes into a database, and not the database itself: create that first"
            }
            ErrorKind::NotSetUp => "run `storagebox setup --url ...` once, with the same URL, then run this again",
            ErrorKind::Denied if error.backend() == Some("sqlite") => {
                "check who may read and write the file and its directory, and which user runs this"
            }
            ErrorKind::Denied if self == Self::SetUp => {
                "check the user and the password of the URL, or the credentials that it goes without; setup needs a \
                 user that may create things, the other commands do not"
            }
            ErrorKind::Denied => {
                "check the user and the password of the URL, or the credentials that it goes without, and that this \
                 user may do what the error names"
            }
            ErrorKind::Unavailable if error.backend() == Some("sqlite") => {
                "check the file, its directory, and the space left on the disk and in memory, then run this again"
            }
            ErrorKind::Unavailable => {
                "check that the server runs and that the URL's host and port reach it, then run this again"
            }
            ErrorKind::Contention | ErrorKind::Throttled => "nothing was lost: run the same command again later",
            ErrorKind::Corrupt => {
                "examine the store before anything else: something other than this version of storagebox changed it"
            }
            _ => "change what the error names",
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "open the store",
            Self::OpenNamespace => "open the namespace",
            Self::SetUp => "set up the store",
            Self::Ping => "reach the store",
            Self::Add => "add the items",
            Self::Take => "take an item",
            Self::Assign => "assign an item",
            Self::Recover => "recover what was left half-way",
            Self::Confirm => "confirm the claim",
            Self::Release => "release the claim",
            Self::Prolong => "extend the hold",
            Self::Retire => "retire the claim",
            Self::Show => "read the claim",
            Self::FindHolder => "look for the item",
            Self::Withdraw => "set the items aside",
            Self::Restore => "free the items",
            Self::Count => "count the items",
            Self::List => "list what is there",
            Self::Record => "record the value",
            Self::Replace => "replace the value",
            Self::Read => "read the value",
            Self::Forget => "forget the record",
            Self::Begin => "ask for the run",
            Self::Extend => "extend the lease",
            Self::Complete => "record the result",
            Self::RecordRun => "record the run",
            Self::GiveBack => "give the lease back",
            Self::CreateTokens => "create the tokens",
            Self::LookForToken => "look for the token",
            Self::Consume => "consume the token",
            Self::Discard => "discard the tokens",
            Self::Change => "change the counter",
            Self::Cancel => "cancel the operation",
            Self::ReadCounter => "read the counter",
            Self::Compact => "compact the counter",
            Self::Put => "put the value",
            Self::Delete => "delete the value",
            Self::Purge => "purge the deletes",
            Self::Reset => "reset the key",
            Self::Maintain => "maintain the store",
            #[cfg(feature = "conform")]
            Self::Certify => "certify the server to the end",
            #[cfg(feature = "conform")]
            Self::Remove => "remove what the suite made",
            Self::Close => "close the store",
        })
    }
}
