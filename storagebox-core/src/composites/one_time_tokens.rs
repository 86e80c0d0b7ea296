//! One-time tokens for people, such as those in links in mails: looking at a token does not use it.

mod finish;
mod held;
mod outcome;
mod used;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::contract::dedup_repo::DedupRepo;
use crate::contract::lease_repo::{Begun, Lease, LeaseRepo};
use crate::contract::token_store::{Created, Discarded, TokenStore};
use crate::values::error::{Error, ErrorKind, Result};
use crate::values::ids::{Ids, RandomIds};
use crate::values::time::checked_duration;
use crate::values::value::{OpId, TokenId};

pub use outcome::{Peeked, TokenBegun, TokenCommitted, TokenLease};

use finish::{told, used_for_something_else};
use used::Places;

/// How long a result can be replayed by default.
const REPLAY: Duration = Duration::from_secs(3_600);

/// Tokens that are used once and that people carry, such as a link in a mail that confirms an address or signs in.
///
/// Programs open such links before people do: mail scanners, link previews, browsers that prefetch. People click twice
/// and reload. So the page behind the link only [peeks](OneTimeTokens::peek), and the button on it
/// [begins](OneTimeTokens::begin), does the work and [commits](OneTimeTokens::commit) the result. A caller that comes
/// again, identified by anything that names the browser, gets the same result.
///
/// A token and a caller are ids: stores hold them, and errors and logs may show them. If the link holds a secret, use a
/// hash of the secret as the token. A request that names the caller gets the result, so the caller must not be
/// guessable: use a hash of a random cookie. The result is stored as it is.
///
/// # Guarantees
///
/// - OT-1 *peeking has no effect*: [`peek`](OneTimeTokens::peek) only reads, and says `Live` only of a token that was
///   live, without a result, at some moment of the call. A `begin` of an unknown token leaves no trace either.
/// - OT-2 *one result*: of all commits of a token, one lease's result is recorded. Of all calls that begin, however
///   many at once, one has a live lease, and none begins after a result is recorded. A lease that lapsed and was then
///   begun by another call can no longer commit (D-5).
/// - OT-3 the caller that used the token gets the recorded result, byte for byte, until the time to replay it is over.
///   No other caller gets it.
/// - OT-4 after the time to replay its result, nothing is left of a used token except what the store remembers of ended
///   operations and gone tokens.
///
/// Requirements: the stores remember operation ids for longer than any call lasts, the three parts are used for nothing
/// else, and they are used only through `OneTimeTokens`.
///
/// A crash after the result was recorded leaves the rest of the commit to the next call on the token, or to
/// [`recover`](OneTimeTokens::recover); the time to replay the result begins then. A live token never expires (T-4):
/// [discard](OneTimeTokens::discard) those that are no longer wanted.
///
/// # Cancel safety
///
/// Dropping a call at any point is the same as a crash after some step: call again.
///
/// # Errors
///
/// `InvalidInput` before any I/O if a token has more than 505 bytes, or a caller or a duration breaks its limit.
/// `Corrupt` for a record in a format that this version does not know.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
/// use storagebox::tokens::{Peeked, TokenBegun, TokenCommitted};
/// use storagebox::{Payload, Store};
///
/// let links = Store::open("memory:").await?.one_time_tokens("sign-in")?;
/// links.create(["hash-of-the-link"]).await?;
///
/// // The page behind the link, however often it is opened.
/// assert_eq!(links.peek("hash-of-the-link").await?, Peeked::Live);
///
/// // The button on it.
/// let TokenBegun::Started(lease) = links.begin("hash-of-the-link", "browser-1", Duration::from_secs(30)).await? else {
///     unreachable!("nobody else is here")
/// };
/// let committed = links.commit(&lease, "session-7").await?;
/// assert_eq!(committed, TokenCommitted::Committed(Payload::try_from("session-7")?));
///
/// // The same browser once more, and another one.
/// let again = links.begin("hash-of-the-link", "browser-1", Duration::from_secs(30)).await?;
/// assert_eq!(again, TokenBegun::Replayed(Payload::try_from("session-7")?));
/// let other = links.begin("hash-of-the-link", "browser-2", Duration::from_secs(30)).await?;
/// assert_eq!(other, TokenBegun::Gone);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct OneTimeTokens {
    tokens: Arc<dyn TokenStore>,
    leases: Arc<dyn LeaseRepo>,
    records: Arc<dyn DedupRepo>,
    ids: Arc<dyn Ids>,
    replay: Duration,
}

impl fmt::Debug for OneTimeTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OneTimeTokens").field("replay", &self.replay).finish_non_exhaustive()
    }
}

impl OneTimeTokens {
    /// Creates one-time tokens over these parts, which must be used for nothing else. `leases` and `records` are
    /// those of one name in one store; `tokens` may be anywhere.
    pub fn new(tokens: Arc<dyn TokenStore>, leases: Arc<dyn LeaseRepo>, records: Arc<dyn DedupRepo>) -> Self {
        Self { tokens, leases, records, ids: Arc::new(RandomIds), replay: REPLAY }
    }

    /// Sets how long a result is replayed to its caller. Defaults to one hour. It must be longer than a commit with its
    /// repetitions takes, because a commit that is repeated later returns `Fenced`.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the time is shorter than 1 ms or longer than a hundred years.
    pub fn replay(mut self, time: Duration) -> Result<Self> {
        self.replay = checked_duration("replay", time)?;
        Ok(self)
    }

    /// Sets the source of the ids of operations. Defaults to [`RandomIds`].
    #[must_use]
    pub fn ids(mut self, ids: Arc<dyn Ids>) -> Self {
        self.ids = ids;
        self
    }

    /// Creates tokens, before they are sent. Tokens that are already live or gone do not change.
    ///
    /// # Guarantees
    ///
    /// - T-2, T-7, T-9 of tokens.
    ///
    /// # Cancel safety
    ///
    /// Safe. Any part may have been created; create again.
    ///
    /// # Errors
    ///
    /// `OutcomeUnknown` if any part may have been created.
    pub async fn create<T>(&self, tokens: impl IntoIterator<Item = T>) -> Result<Created>
    where
        T: TryInto<TokenId>,
        Error: From<T::Error>,
    {
        self.tokens.create_tokens(&checked(tokens)?).await
    }

    /// Returns whether the token can be used. For the page behind a link, which anyone may open at any time.
    ///
    /// # Guarantees
    ///
    /// - OT-1 above.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    ///
    /// # Errors
    ///
    /// Those above, and the errors of the stores.
    pub async fn peek<T>(&self, token: T) -> Result<Peeked>
    where
        T: TryInto<TokenId>,
        Error: From<T::Error>,
    {
        let token = token.try_into()?;
        let places = Places::of(&token)?;
        // The record is read first, because a commit forgets its record after it has ended the token.
        let is_used = self.records.get(&places.begun).await?.is_some();
        let is_live = !is_used && self.tokens.exists(&token).await?;
        Ok(if is_live { Peeked::Live } else { Peeked::Gone })
    }

    /// Begins to use the token, or returns what is known about it. `caller` identifies the caller that gets the result
    /// again, and must be a secret of that caller: use a hash of the browser's cookie. Every call is a separate
    /// operation, so of two calls of one caller, however similar, one starts and the other is `InUse`.
    ///
    /// # Guarantees
    ///
    /// - OT-1 to OT-3 above.
    ///
    /// # Cancel safety
    ///
    /// Safe. A call that is dropped, or whose outcome is unknown, may leave a lease that lapses after its time; until
    /// then other calls are `InUse`.
    ///
    /// # Errors
    ///
    /// Those above, and the errors of the stores.
    pub async fn begin<T, C>(&self, token: T, caller: C, lease: Duration) -> Result<TokenBegun>
    where
        T: TryInto<TokenId>,
        C: TryInto<OpId>,
        Error: From<T::Error> + From<C::Error>,
    {
        let (token, caller) = (token.try_into()?, caller.try_into()?);
        let (places, duration) = (Places::of(&token)?, checked_duration("lease", lease)?);
        // Nothing is written for a token that was never created.
        if !self.tokens.exists(&token).await? {
            return self.gone(&token, &places, &caller).await;
        }
        let op = OpId::new(self.ids.fresh())?;
        match self.leases.begin(&places.begun, &op, duration, None).await? {
            Begun::Started(lease) => self.start(lease, token, &places, caller).await.map_err(Error::after_unresolved),
            Begun::InFlight { remaining } => self.in_use(remaining, &token, &places, &caller).await,
            Begun::Done(committed) => Ok(told(self.finish(&token, &places, &committed).await?, &caller)),
            Begun::Mismatch => Err(used_for_something_else()),
            Begun::Fenced => Err(Error::new(ErrorKind::Contention, "the lease expired while `begin` was running")),
        }
    }

    /// Returns `InUse` if the token is still live, and otherwise the answer of `gone`.
    async fn in_use(&self, remaining: Duration, token: &TokenId, places: &Places, caller: &OpId) -> Result<TokenBegun> {
        match self.tokens.exists(token).await? {
            true => Ok(TokenBegun::InUse { remaining }),
            // The call with the lease has not yet noticed that the token was used in the meantime.
            false => self.gone(token, places, caller).await,
        }
    }

    /// Returns the lease if the token is still live, and otherwise aborts the lease.
    async fn start(&self, lease: Lease, token: TokenId, places: &Places, caller: OpId) -> Result<TokenBegun> {
        // Between the first check of the token and this lease, another caller may have begun and committed.
        let is_live = self.tokens.exists(&token).await;
        if let Ok(true) = is_live {
            return Ok(TokenBegun::Started(TokenLease { token, caller, op: lease.op, fence: lease.fence }));
        }
        let given_back = self.leases.abort(&lease).await;
        is_live?;
        let _aborted = given_back?;
        self.gone(&token, places, &caller).await
    }

    /// Ends tokens without a result: links that are no longer wanted. A call that began before may still commit.
    ///
    /// # Guarantees
    ///
    /// - T-6, T-7 of tokens.
    ///
    /// # Cancel safety
    ///
    /// Safe. Any part may have been discarded; discard again.
    ///
    /// # Errors
    ///
    /// `OutcomeUnknown` if any part may have been discarded.
    pub async fn discard<T>(&self, tokens: impl IntoIterator<Item = T>) -> Result<Discarded>
    where
        T: TryInto<TokenId>,
        Error: From<T::Error>,
    {
        self.tokens.discard(&checked(tokens)?).await
    }
}

/// Converts each value to a token. Checks that each token is short enough to be a part of a record's id.
fn checked<T>(tokens: impl IntoIterator<Item = T>) -> Result<Vec<TokenId>>
where
    T: TryInto<TokenId>,
    Error: From<T::Error>,
{
    let checked = |token: T| {
        let token = token.try_into()?;
        Places::of(&token).map(|_| token)
    };
    tokens.into_iter().map(checked).collect()
}
