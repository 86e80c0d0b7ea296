//! Checked values: every value that a caller supplies, with the same limits for every backend.

#[cfg(feature = "json")]
mod json;
mod payload;

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::values::error::{Error, Result};

pub use payload::{MAX_PAYLOAD_BYTES, Payload};

/// The maximum length of an id, key or name, in bytes of UTF-8.
pub const MAX_ID_BYTES: usize = 512;
/// The maximum length of an item, in bytes of UTF-8.
pub const MAX_ITEM_BYTES: usize = 1024;

fn checked_text(field: &'static str, max: usize, text: Arc<str>) -> Result<Arc<str>> {
    if text.is_empty() || text.len() > max {
        return Err(Error::length(field, 1, max, text.len()));
    }
    if text.contains('\0') {
        return Err(Error::invalid(field, "must not contain U+0000").with("bytes", text.len()));
    }
    Ok(text)
}

macro_rules! text_value {
    ($(#[$doc:meta])* $name:ident, $field:literal, $max:expr) => {
        $(#[$doc])*
        ///
        /// UTF-8 without U+0000, compared byte by byte: the text is not trimmed, folded or normalised (clause V-2).
        /// Cheap to clone.
        ///
        /// # Errors
        ///
        /// Creating a value from text that is empty, too long or contains U+0000 returns `InvalidInput`, which names
        /// the field, the limit and the length, and never the text (V-1).
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks the text and keeps it unchanged.
            ///
            /// # Errors
            ///
            /// `InvalidInput` if the text is empty, too long or contains U+0000.
            pub fn new(text: impl Into<Arc<str>>) -> Result<Self> {
                checked_text($field, $max, text.into()).map(Self)
            }

            /// Returns the text, byte for byte as it was given.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self> {
                Self::new(text)
            }
        }

        impl TryFrom<&str> for $name {
            type Error = Error;

            fn try_from(text: &str) -> Result<Self> {
                Self::new(text)
            }
        }

        impl TryFrom<String> for $name {
            type Error = Error;

            fn try_from(text: String) -> Result<Self> {
                Self::new(text)
            }
        }

        impl TryFrom<&String> for $name {
            type Error = Error;

            fn try_from(text: &String) -> Result<Self> {
                Self::new(text.as_str())
            }
        }

        impl TryFrom<&&str> for $name {
            type Error = Error;

            fn try_from(text: &&str) -> Result<Self> {
                Self::new(*text)
            }
        }

        impl From<&$name> for $name {
            fn from(value: &$name) -> Self {
                value.clone()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.0.as_ref().to_owned()
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

macro_rules! shown_value {
    ($($name:ident)*) => {$(
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    )*};
}

text_value!(
    /// An item of a bank: a voucher code, a licence key, a seat. 1 to 1,024 bytes.
    ///
    /// Its `Debug` shows only the length, because codes are worth money (V-4).
    Item, "item", MAX_ITEM_BYTES
);
text_value!(
    /// The id of a claim, such as a customer, an order or a request that takes from a bank. 1 to 512 bytes, scoped by
    /// its bank.
    ClaimId, "claim", MAX_ID_BYTES
);
text_value!(
    /// The id of a deduplication record: a message id, an idempotency key. 1 to 512 bytes.
    DedupId, "dedup id", MAX_ID_BYTES
);
text_value!(
    /// The id of an operation, created before the first attempt and the same for every retry. 1 to 512 bytes.
    OpId, "op", MAX_ID_BYTES
);
text_value!(
    /// The id of a token: its presence means *not yet processed* (article 2). 1 to 512 bytes.
    TokenId, "token", MAX_ID_BYTES
);
text_value!(
    /// The id of a message, the same for all its copies. 1 to 512 bytes.
    MessageId, "message id", MAX_ID_BYTES
);
text_value!(
    /// Where a message is sent: the name of a queue, a topic or an endpoint. 1 to 512 bytes.
    Destination, "destination", MAX_ID_BYTES
);
text_value!(
    /// The key of a counter, of an ordered value or of an entity. 1 to 512 bytes.
    Key, "key", MAX_ID_BYTES
);
text_value!(
    /// The name of a namespace: a bank, repository, counter or store. 1 to 512 bytes.
    Namespace, "namespace name", MAX_ID_BYTES
);
text_value!(
    /// The id of the writer of an ordered value. The writer's id decides between equal times. 1 to 512 bytes.
    WriterId, "writer", MAX_ID_BYTES
);
text_value!(
    /// A summary of the request that the caller supplies, such as a hash of its body. 1 to 512 bytes.
    Fingerprint, "fingerprint", MAX_ID_BYTES
);

text_value!(
    /// The reason why a counter was changed, for readers of its log: `order 7 was returned`. 1 to 512 bytes.
    ///
    /// Its `Debug` shows only the length, because people may write anything (V-4).
    Reason, "reason", MAX_ID_BYTES
);

shown_value!(ClaimId DedupId OpId TokenId MessageId Destination Key Namespace WriterId Fingerprint);

impl fmt::Debug for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Item({} bytes)", self.0.len())
    }
}

impl fmt::Debug for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reason({} bytes)", self.0.len())
    }
}
