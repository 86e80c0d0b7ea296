//! Checked values: everything a caller hands in, with one set of limits for every backend.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use crate::error::{Error, Result};

/// The longest id, key or name, in bytes of UTF-8.
pub const MAX_ID_BYTES: usize = 512;
/// The longest item, in bytes of UTF-8.
pub const MAX_ITEM_BYTES: usize = 1024;
/// The longest payload, in bytes.
pub const MAX_PAYLOAD_BYTES: usize = 256 * 1024;

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
        /// UTF-8 without U+0000, compared byte by byte: nothing is trimmed, folded or normalised (clause V-2).
        /// Cheap to clone.
        ///
        /// # Errors
        ///
        /// Building one from text that is empty, too long or holds U+0000 is `InvalidInput`, which names the
        /// field, the limit and the length, and never the text (V-1).
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks the text and takes it as it is.
            ///
            /// # Errors
            ///
            /// `InvalidInput` if it is empty, too long or holds U+0000.
            pub fn new(text: impl Into<Arc<str>>) -> Result<Self> {
                checked_text($field, $max, text.into()).map(Self)
            }

            /// The text, byte for byte as it was given.
            pub fn as_str(&self) -> &str {
                &self.0
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
    /// One thing to be handed out: a voucher code, a licence key, a seat. 1 to 1,024 bytes.
    ///
    /// Its `Debug` shows the length alone, because codes are money (V-4).
    Item, "item", MAX_ITEM_BYTES
);
text_value!(
    /// Who takes from a bank: a customer, an order, a request. 1 to 512 bytes, scoped by its bank.
    ClaimId, "claim", MAX_ID_BYTES
);
text_value!(
    /// What a deduplication record is kept for: a message id, an idempotency key. 1 to 512 bytes.
    DedupId, "dedup id", MAX_ID_BYTES
);
text_value!(
    /// One operation of a caller, made before the first attempt and the same for every retry. 1 to 512 bytes.
    OpId, "op", MAX_ID_BYTES
);
text_value!(
    /// One token: its presence means *not yet processed* (article 2). 1 to 512 bytes.
    TokenId, "token", MAX_ID_BYTES
);
text_value!(
    /// The key of a counter or of an ordered value. 1 to 512 bytes.
    Key, "key", MAX_ID_BYTES
);
text_value!(
    /// The name of a box: of one bank, repository, counter or store. 1 to 512 bytes.
    BoxName, "box name", MAX_ID_BYTES
);
text_value!(
    /// Who wrote an ordered value; it settles equal times. 1 to 512 bytes.
    WriterId, "writer", MAX_ID_BYTES
);
text_value!(
    /// What a request asked for, as the caller sums it up (a hash of its body, say). 1 to 512 bytes.
    Fingerprint, "fingerprint", MAX_ID_BYTES
);

text_value!(
    /// Why a counter was changed, for those who read its log: `order 7 was returned`. 1 to 512 bytes.
    ///
    /// Its `Debug` shows the length alone, because people write whatever they like (V-4).
    Reason, "reason", MAX_ID_BYTES
);

shown_value!(ClaimId DedupId OpId TokenId Key BoxName WriterId Fingerprint);

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

/// Bytes that are kept for the caller: a result, a value. At most 256 KiB; may be empty.
///
/// Its `Debug` shows the length alone (V-4). Cheap to clone.
///
/// # Errors
///
/// More than 256 KiB is `TooLarge`, which names the limit and the length (V-3).
#[derive(Clone, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Vec<u8>", into = "Vec<u8>"))]
pub struct Payload(Bytes);

impl Payload {
    /// Checks the length and takes the bytes as they are.
    ///
    /// # Errors
    ///
    /// `TooLarge` for more than 256 KiB.
    pub fn new(bytes: impl Into<Bytes>) -> Result<Self> {
        let bytes = bytes.into();
        if bytes.len() > MAX_PAYLOAD_BYTES {
            return Err(Error::too_large("payload", MAX_PAYLOAD_BYTES, bytes.len()));
        }
        Ok(Self(bytes))
    }

    /// The bytes, as they were given.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The bytes, without a copy.
    pub fn into_bytes(self) -> Bytes {
        self.0
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Payload({} bytes)", self.0.len())
    }
}

impl AsRef<[u8]> for Payload {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl TryFrom<&str> for Payload {
    type Error = Error;

    fn try_from(text: &str) -> Result<Self> {
        Self::new(text.to_owned())
    }
}

impl TryFrom<String> for Payload {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        Self::new(text)
    }
}

impl TryFrom<&String> for Payload {
    type Error = Error;

    fn try_from(text: &String) -> Result<Self> {
        Self::new(text.clone())
    }
}

impl TryFrom<&[u8]> for Payload {
    type Error = Error;

    fn try_from(bytes: &[u8]) -> Result<Self> {
        Self::new(Bytes::copy_from_slice(bytes))
    }
}

impl TryFrom<Vec<u8>> for Payload {
    type Error = Error;

    fn try_from(bytes: Vec<u8>) -> Result<Self> {
        Self::new(bytes)
    }
}

impl TryFrom<&Vec<u8>> for Payload {
    type Error = Error;

    fn try_from(bytes: &Vec<u8>) -> Result<Self> {
        Self::new(Bytes::copy_from_slice(bytes))
    }
}

impl<const N: usize> TryFrom<&[u8; N]> for Payload {
    type Error = Error;

    fn try_from(bytes: &[u8; N]) -> Result<Self> {
        Self::new(Bytes::copy_from_slice(bytes))
    }
}

impl TryFrom<Bytes> for Payload {
    type Error = Error;

    fn try_from(bytes: Bytes) -> Result<Self> {
        Self::new(bytes)
    }
}

impl From<&Payload> for Payload {
    fn from(value: &Payload) -> Self {
        value.clone()
    }
}

impl From<Payload> for Bytes {
    fn from(value: Payload) -> Self {
        value.0
    }
}

impl From<Payload> for Vec<u8> {
    fn from(value: Payload) -> Self {
        value.0.to_vec()
    }
}
