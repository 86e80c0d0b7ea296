//! A listing: a stream of entries that is read page by page.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::vec;

use futures_core::Stream;

use crate::values::error::{Error, Result};
use crate::values::page::{Cursor, Page};

/// The number of entries that a stream reads per page. A page of the largest values takes 25 MiB.
const PAGE: usize = 100;

/// One page that is being read.
pub type ReadPage<'a, T> = Pin<Box<dyn Future<Output = Result<Page<T>>> + Send + 'a>>;
type Read<'a, T> = Box<dyn Fn(Option<Cursor>, usize) -> ReadPage<'a, T> + Send + 'a>;

/// A listing: a [`Stream`] of its entries, or [one page](Self::page) of them.
///
/// The order is not guaranteed. After an error the stream ends.
///
/// # Guarantees
///
/// - D-4, E-5, IB-10, O-3: an entry that does not change while the listing is read is shown exactly once.
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
#[must_use = "a listing reads nothing until it is polled"]
pub struct Listing<'a, T> {
    position: Position<'a, T>,
    entries: vec::IntoIter<T>,
}

enum Position<'a, T> {
    Refused(Error),
    Before(Read<'a, T>, Option<Cursor>),
    In(Read<'a, T>, ReadPage<'a, T>),
    End,
}

impl<'a, T> Listing<'a, T> {
    /// Creates a listing from a call that reads one page, after a cursor and with a limit.
    pub fn new(read: impl Fn(Option<Cursor>, usize) -> ReadPage<'a, T> + Send + 'a) -> Self {
        Self::at(Position::Before(Box::new(read), None))
    }

    /// Creates a listing of the entries that an argument selects. If the argument was refused, reading returns its
    /// error.
    pub fn of<K, F>(argument: Result<K>, read: impl FnOnce(K) -> F) -> Self
    where
        F: Fn(Option<Cursor>, usize) -> ReadPage<'a, T> + Send + 'a,
    {
        match argument {
            Ok(argument) => Self::new(read(argument)),
            Err(error) => Self::at(Position::Refused(error)),
        }
    }

    fn at(position: Position<'a, T>) -> Self {
        Self { position, entries: vec![].into_iter() }
    }

    /// Reads at most `limit` entries, from the start or from the cursor of another page (D-4, E-5, IB-10, O-3).
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if the limit is 0, the cursor cannot be read, or the key or the prefix breaks its limit.
    pub async fn page(self, after: Option<&Cursor>, limit: usize) -> Result<Page<T>> {
        match self.position {
            Position::Refused(error) => Err(error),
            Position::Before(read, _) | Position::In(read, _) => read(after.cloned(), limit).await,
            Position::End => Ok(Page { entries: vec![], next: None }),
        }
    }
}

impl<T: Unpin> Listing<'_, T> {
    /// Reads the next entry, or returns `None` at the end (D-4, E-5, IB-10, O-3).
    ///
    /// # Cancel safety
    ///
    /// Safe: a dropped future loses no entry. Call again.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if the key or the prefix breaks its limit, and the errors of the backend.
    pub async fn try_next(&mut self) -> Result<Option<T>> {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await.transpose()
    }

    /// Reads all entries into memory (D-4, E-5, IB-10, O-3).
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
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

    fn poll_page(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        let (read, mut reading) = match std::mem::replace(&mut self.position, Position::End) {
            Position::Before(read, cursor) => {
                let reading = read(cursor, PAGE);
                (read, reading)
            }
            Position::In(read, reading) => (read, reading),
            Position::Refused(error) => return Poll::Ready(Err(error)),
            Position::End => return Poll::Ready(Ok(())),
        };
        let Poll::Ready(page) = reading.as_mut().poll(context) else {
            self.position = Position::In(read, reading);
            return Poll::Pending;
        };
        let Page { entries, next } = page?;
        self.entries = entries.into_iter();
        if next.is_some() {
            self.position = Position::Before(read, next);
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
            if let Position::End = listing.position {
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
