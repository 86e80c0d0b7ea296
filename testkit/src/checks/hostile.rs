//! Texts and values that would be something else if anybody read them as anything but what they are.

use storagebox_conformance::keeps_text;
use storagebox_core::{Backend, ClaimId, DedupId, DedupRepo, ErrorKind, Item, OpId, Payload, Result, Retention};

use super::failed;

/// Short texts that any store may be wrong about.
const SHORT: [&str; 3] = ["\u{1f600}\u{200d}\u{1f4a9}", "e\u{301}", "\u{1}\t\r\n\u{7f}"];
/// And a long one: a part, and how often it stands there.
const LONG: (&str, usize) = ("\u{1f600}", 128);

/// The texts that mean something where a backend keeps them, beside those that any store may be wrong about.
#[derive(Clone, Copy, Debug)]
pub struct Texts {
    /// As they are.
    pub short: &'static [&'static str],
    /// A part, and how often it stands there.
    pub long: &'static [(&'static str, usize)],
}

impl Texts {
    /// Each of them.
    pub fn all(&self) -> impl Iterator<Item = String> {
        let long = self.long.iter().chain([&LONG]).map(|(part, times)| part.repeat(*times));
        self.short.iter().chain(&SHORT).map(|text| (*text).to_owned()).chain(long)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.all().count()
    }

    /// The store keeps each of them byte for byte, in every field of every part.
    ///
    /// # Errors
    ///
    /// The text and the field that did not hold.
    pub async fn are_kept(&self, store: &dyn Backend) -> Result<()> {
        for text in self.all() {
            keeps_text(store, &text).await.map_err(failed)?;
        }
        Ok(())
    }
}

/// Every byte there is, as a value, and the longest one.
///
/// # Errors
///
/// As of the store.
///
/// # Panics
///
/// If another value comes back.
pub async fn payloads_are_bytes(records: &dyn DedupRepo) -> Result<()> {
    let bytes: Vec<_> = (0..256 * 1024_usize).map(|byte| byte as u8).collect();
    for value in [&bytes[..0], &bytes[..256], &bytes[..]] {
        let (id, op) = (DedupId::new(format!("{}", value.len()))?, OpId::new("op")?);
        let _ = records.record(&id, &Payload::try_from(value)?, &op, Retention::Forever).await?;
        let found = records.get(&id).await?.ok_or_else(|| failed("nothing was recorded"))?;
        assert!(found.value.as_bytes() == value, "{} bytes did not come back", value.len());
    }
    Ok(())
}

/// What a store could not keep never gets as far as a call.
///
/// # Panics
///
/// If it makes a value.
#[track_caller]
pub fn what_cannot_be_kept_is_no_value() {
    for text in ["a\0b".to_owned(), "\0".to_owned(), "x".repeat(1_025)] {
        assert_eq!(Item::new(text.as_str()).expect_err("an item").kind(), ErrorKind::InvalidInput);
        assert_eq!(ClaimId::new(text.as_str()).expect_err("an id").kind(), ErrorKind::InvalidInput);
    }
}
