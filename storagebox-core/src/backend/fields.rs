//! The fields in which the core stores its own data: a length (big-endian) and the bytes.

use crate::values::error::{Error, Result};

#[derive(Debug, thiserror::Error)]
pub(crate) enum DecodeError {
    #[error("it ends too early")]
    Short,
    #[error("it has bytes after its end")]
    Long,
    #[error("its format is {found}, and this version of storagebox knows only {known}")]
    Format { found: u8, known: u8 },
    #[error("its state has the unknown code {0}")]
    State(u8),
    #[error("a field is not UTF-8")]
    Text(#[from] std::str::Utf8Error),
    #[error("a field is invalid")]
    Field(#[from] Error),
}

/// Appends the length of `text` in two bytes, and then `text`.
pub(crate) fn put_text(bytes: &mut Vec<u8>, field: &'static str, text: &str) -> Result<()> {
    let length = u16::try_from(text.len()).map_err(|_| Error::invalid(field, "is too long"))?;
    bytes.extend(length.to_be_bytes());
    bytes.extend(text.as_bytes());
    Ok(())
}

/// Appends the length of `body` in four bytes, and then `body`.
pub(crate) fn put_bytes(bytes: &mut Vec<u8>, field: &'static str, body: &[u8]) -> Result<()> {
    let length = u32::try_from(body.len()).map_err(|_| Error::invalid(field, "is too long"))?;
    bytes.extend(length.to_be_bytes());
    bytes.extend(body);
    Ok(())
}

/// The bytes that are not read yet.
pub(crate) struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    /// Checks that the first byte is the format `known`. Returns the letter in the second byte, and the other fields.
    pub(crate) fn begin(bytes: &'a [u8], known: u8) -> Result<(u8, Self), DecodeError> {
        match bytes {
            [format, letter, rest @ ..] if *format == known => Ok((*letter, Self(rest))),
            [format, _, ..] => Err(DecodeError::Format { found: *format, known }),
            _ => Err(DecodeError::Short),
        }
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, DecodeError> {
        let (length, rest) = self.0.split_first_chunk().ok_or(DecodeError::Short)?;
        let text = self.take(rest, usize::from(u16::from_be_bytes(*length)))?;
        Ok(std::str::from_utf8(text)?)
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], DecodeError> {
        let (length, rest) = self.0.split_first_chunk().ok_or(DecodeError::Short)?;
        let length = usize::try_from(u32::from_be_bytes(*length)).map_err(|_| DecodeError::Short)?;
        self.take(rest, length)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns `value`, or an error if some bytes have not been read.
    pub(crate) fn end<T>(&self, value: T) -> Result<T, DecodeError> {
        if self.is_empty() { Ok(value) } else { Err(DecodeError::Long) }
    }

    fn take(&mut self, from: &'a [u8], length: usize) -> Result<&'a [u8], DecodeError> {
        let (taken, rest) = from.split_at_checked(length).ok_or(DecodeError::Short)?;
        self.0 = rest;
        Ok(taken)
    }
}
