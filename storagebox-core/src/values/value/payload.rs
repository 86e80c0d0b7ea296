//! Byte payloads.

use std::fmt;

use bytes::Bytes;

use crate::values::error::{Error, Result};

/// The maximum length of a payload, in bytes.
pub const MAX_PAYLOAD_BYTES: usize = 256 * 1024;

/// Bytes that are stored for the caller: a result, a value. At most 256 KiB; may be empty.
///
/// Its `Debug` shows only the length (V-4). Cheap to clone.
///
/// # Errors
///
/// More than 256 KiB returns `TooLarge`, which names the limit and the length (V-3).
#[derive(Clone, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Vec<u8>", into = "Vec<u8>"))]
pub struct Payload(Bytes);

impl Payload {
    /// Checks the length and keeps the bytes unchanged.
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

    /// Returns the bytes as they were given.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the bytes without a copy.
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
