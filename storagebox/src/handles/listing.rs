//! A listing, before it is read.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::vec;

use futures_core::Stream;
use storagebox_core::{Cursor, Error, Page, Result};

/// Entries that a stream reads at once: a page of the largest values takes 25 MiB.
const PAGE: usize = 100;

type Reading<'a, T> = Pin<Box<dyn Future<Output = Result<Page<T>>> + Send + 'a>>;
type Read<'a, T> = Box<dyn Fn(Option<Cursor>, usize) -> Reading<'a, T> + Send + 'a>;

/// A listing: a [`Stream`] of its entries, or [one page](Self::page) of them.
///
/// An entry that does not change while the listing is read is shown exactly once. The order is not guaranteed. After an
/// error the stream ends.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox::Result<()> {
/// let vouchers = storagebox::Store::open("memory:").await?.bank("vouchers")?;
/// vouchers.add(["SAVE-10", "SAVE-20"]).await?;
///
/// let mut items = vouchers.list();
/// while let Some(listed) = items.try_next().await? {
///     println!("{} {:?}", listed.item.as_str(), listed.state);
/// }
/// let page = vouchers.list().page(None, 1).await?;
/// let rest = vouchers.list().page(page.next.as_ref(), 100).await?;
/// assert_eq!(page.entries.len() + rest.entries.len(), 2);
/// # Ok(()) }
/// ```
#[must_use = "a listing is read when it is polled"]
pub struct Listing<'a, T> {
    place: Place<'a, T>,
    entries: vec::IntoIter<T>,
}

/// What is read next.
enum Place<'a, T> {
    Refused(Error),
    Before(Read<'a, T>, Option<Cursor>),
    In(Read<'a, T>, Reading<'a, T>),
    End,
}

impl<'a, T> Listing<'a, T> {
    pub(crate) fn new(read: impl Fn(Option<Cursor>, usize) -> Reading<'a, T> + Send + 'a) -> Self {
        Self { place: Place::Before(Box::new(read), None), entries: vec![].into_iter() }
    }

    /// What lists the entries of a key, unless the key is none.
    pub(crate) fn of<K, F>(key: Result<K>, read: impl FnOnce(K) -> F) -> Self
    where
        F: Fn(Option<Cursor>, usize) -> Reading<'a, T> + Send + 'a,
    {
        match key {
            Ok(key) => Self::new(read(key)),
            Err(error) => Self { place: Place::Refused(error), entries: vec![].into_iter() },
        }
    }

    /// Reads at most `limit` entries, from the start or from the cursor of another page.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if the limit is 0, the cursor cannot be read, or the key or the prefix breaks its limit.
    pub async fn page(self, after: Option<&Cursor>, limit: usize) -> Result<Page<T>> {
        match self.place {
            Place::Refused(error) => Err(error),
            Place::Before(read, _) | Place::In(read, _) => read(after.cloned(), limit).await,
            Place::End => Ok(Page { entries: vec![], next: None }),
        }
    }
}

impl<T: Unpin> Listing<'_, T> {
    /// Reads the next entry, or `None` at the end. A dropped future loses no entry: call again.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if the key or the prefix breaks its limit, and the errors of the backend.
    pub async fn try_next(&mut self) -> Result<Option<T>> {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await.transpose()
    }

    /// Reads all entries into memory.
    ///
    /// # Errors
    ///
    /// As [`try_next`](Self::try_next).
    pub async fn all(mut self) -> Result<Vec<T>> {
        let mut entries = vec![];
        while let Some(entry) = self.try_next().await? {
            entries.push(entry);
        }
        Ok(entries)
    }

    /// Reads the next page, if there is one.
    fn poll_page(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        let (read, mut reading) = match std::mem::replace(&mut self.place, Place::End) {
            Place::Before(read, cursor) => {
                let reading = read(cursor, PAGE);
                (read, reading)
            }
            Place::In(read, reading) => (read, reading),
            Place::Refused(error) => return Poll::Ready(Err(error)),
            Place::End => return Poll::Ready(Ok(())),
        };
        let Poll::Ready(page) = reading.as_mut().poll(context) else {
            self.place = Place::In(read, reading);
            return Poll::Pending;
        };
        let Page { entries, next } = page?;
        self.entries = entries.into_iter();
        if next.is_some() {
            self.place = Place::Before(read, next);
        }
        Poll::Ready(Ok(()))
    }
}

impl<T: Unpin> Stream for Listing<'_, T> {
    type Item = Result<T>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<T>>> {
        let listing = self.get_mut();
        loop {
            if let Some(entry) = listing.entries.next() {
                return Poll::Ready(Some(Ok(entry)));
            }
            if let Place::End = listing.place {
                return Poll::Ready(None);
            }
            if let Err(error) = ready!(listing.poll_page(context)) {
                return Poll::Ready(Some(Err(error)));
            }
        }
    }
}

impl<T> fmt::Debug for Listing<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listing").finish_non_exhaustive()
    }
}
