//! Texts and values that would mean something else if they were not treated as data.

use storagebox_conformance::keeps_text;
use storagebox_core::{Backend, Result};

use super::failed;

/// Short texts that every store is tested with.
const SHORT: [&str; 3] = ["\u{1f600}\u{200d}\u{1f4a9}", "e\u{301}", "\u{1}\t\r\n\u{7f}"];
/// A long text that every store is tested with: a part, and how often it is repeated.
const LONG: (&str, usize) = ("\u{1f600}", 128);

/// Texts that have a special meaning in one backend. The tests also use texts that every store is tested with.
#[derive(Clone, Copy, Debug)]
pub struct Texts {
    /// Short texts.
    pub short: &'static [&'static str],
    /// Long texts: a part, and how often it is repeated.
    pub long: &'static [(&'static str, usize)],
}

impl Texts {
    /// Returns all texts.
    pub fn all(&self) -> impl Iterator<Item = String> {
        let long = self.long.iter().chain([&LONG]).map(|(part, times)| part.repeat(*times));
        self.short.iter().chain(&SHORT).map(|text| (*text).to_owned()).chain(long)
    }

    /// Returns the number of texts.
    pub fn count(&self) -> usize {
        self.all().count()
    }

    /// Checks that the store keeps each text byte for byte, in every field of every part.
    pub async fn are_kept(&self, store: &dyn Backend) -> Result<()> {
        for text in self.all() {
            keeps_text(store, &text).await.map_err(failed)?;
        }
        Ok(())
    }
}
