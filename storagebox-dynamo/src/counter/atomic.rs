//! A bare addition (article 5, approach 1): one conditional update, and nothing to know it again by.

use storagebox_core::{Certainty, Change, Counted, Error, Key, Result, Settles};

use super::room::Room;
use super::values::{Values, value_in};
use crate::client::{Write, Wrote};

/// What became of sending a change.
enum Sent {
    Answered(Counted),
    /// It may have been applied, and is not sent again.
    Lost(Error),
}

impl Settles for Sent {
    fn settles(&self) -> bool {
        match self {
            Self::Answered(counted) => counted.settles(),
            Self::Lost(_) => true,
        }
    }
}

/// A change whose reply was lost is sent again only where counting it twice was chosen over not counting it.
pub(super) async fn apply(values: &Values, key: &Key, change: &Change) -> Result<Counted> {
    let client = values.client();
    let sends_again = client.settings().retry_atomic;
    let attempt = || async move {
        match once(values, key, change).await {
            Err(error) if !sends_again && error.certainty() == Certainty::Unknown => Ok(Sent::Lost(error)),
            answer => answer.map(Sent::Answered),
        }
    };
    match client.settle("apply", attempt).await? {
        Sent::Answered(counted) => Ok(counted),
        Sent::Lost(error) => Err(error.during("apply")),
    }
}

async fn once(values: &Values, key: &Key, change: &Change) -> Result<Counted> {
    values.ready().await?;
    let room = Room::of(change);
    let update = room.added(Write::update(&values.row(key))).answering_updated();
    match values.client().write(&update).await? {
        Wrote::Done(row) => {
            let value = row.as_ref().map(value_in).transpose().map_err(Error::after_unresolved)?;
            Ok(Counted::Applied { value })
        }
        Wrote::Refused(old) => room.rejected(old.as_ref()),
    }
}
