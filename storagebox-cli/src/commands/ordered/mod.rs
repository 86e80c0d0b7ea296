//! `storagebox ordered ...`: values that an older write never overwrites.

mod list;
#[cfg(test)]
mod tests;

use humantime::format_duration;
use jiff::Timestamp;
use storagebox::ordered::{Reset, Versioned};
use storagebox::parts::{Backend, OrderedStore};
use storagebox::{Maintained, Stamp, Written, async_trait};

use super::listing;
use super::on_store::{OnStore, Outlet};
use crate::answer::Answer;
use crate::cli::{Delete, GetValue, OfKey, Ordered, Purge, Put, ResetKey};
use crate::content;
use crate::exit::{Exit, Failure};
use crate::output::Reserved;
use crate::retry;
use crate::say::{Kind, say};
use crate::step::Step;
use list::{Prefix, Values};

/// How many deletes are forgotten with one call.
const BATCH: usize = 1_000;

#[async_trait]
impl OnStore for Ordered {
    async fn ask(self, store: &dyn Backend, out: Outlet<'_>) -> Result<Exit, Failure> {
        let of = self.of();
        let options = of.options().map_err(Failure::Argument)?;
        let values =
            store.ordered_store(&of.namespace.name, options).map_err(|error| Step::OpenNamespace.failed(error))?;
        let values = &*values;
        let answer = match self {
            Ordered::List(args) => {
                let listed = Values { values, prefix: Prefix::of(args.prefix.as_deref()) };
                return listing::list(&listed, args.limit, out.as_json, out.to).await;
            }
            Ordered::Get(args) => return get(&args, values, out).await,
            Ordered::Put(args) => put(&args, values, out.reserved).await?,
            Ordered::Delete(args) => delete(&args, values).await?,
            Ordered::Reset(args) => reset(&args, values).await?,
            Ordered::Purge(args) => purge(&args, values).await?,
        };
        out.print(answer)
    }
}

async fn put(args: &Put, values: &dyn OrderedStore, reserved: &Reserved) -> Result<Answer, Failure> {
    let Put { key, content, write } = args;
    let (value, stamp) = (content::read(content, reserved).await?, write.stamp(&key.of).map_err(Failure::Argument)?);
    let written = retry::named(Step::Put, || values.put(&key.key, &value, &stamp)).await?;
    explain(key, &stamp, &written);
    Ok(answer(key, &stamp, &written))
}

async fn delete(args: &Delete, values: &dyn OrderedStore) -> Result<Answer, Failure> {
    let Delete { key, write } = args;
    let stamp = write.stamp(&key.of).map_err(Failure::Argument)?;
    let written = retry::named(Step::Delete, || values.delete(&key.key, &stamp)).await?;
    explain(key, &stamp, &written);
    Ok(answer(key, &stamp, &written))
}

/// Explains how old is too old, and what to set: a sequence number is not a time.
fn explain(of: &OfKey, own: &Stamp, written: &Written) {
    if let Written::TooOld { horizon } = written {
        let (at, oldest, age) = (time(own.at), time(*horizon), format_duration(of.of.tombstone_age));
        say(
            Kind::Note,
            format_args!(
                "--at {at} is before {oldest}, which is --tombstone-age ({age}) behind the store's clock; a delete of a \
                 newer time may be forgotten by now"
            ),
        );
        say(
            Kind::Help,
            format_args!(
                "load old values into a new namespace, with a --tombstone-age longer than the oldest of them is old on \
                 each command, such as 36500d; for numbers of your own give `--stamps sequence` on each"
            ),
        );
    }
}

/// A stamp as the time that it stands for, if it is one.
fn time(at: i64) -> String {
    match Timestamp::from_millisecond(at) {
        Ok(time) if at >= 0 => format!("{at} ({time:.3})"),
        _ => at.to_string(),
    }
}

/// With the stamp that stands there now, where it is known.
fn answer(of: &OfKey, own: &Stamp, written: &Written) -> Answer {
    let (exit, outcome, stands) = match written {
        Written::Applied => (Exit::Done, "applied", Some(own)),
        Written::Duplicate => (Exit::Done, "duplicate", Some(own)),
        Written::Stale { current } => (Exit::Nothing, "stale", Some(current)),
        Written::Mismatch => (Exit::Nothing, "mismatch", None),
        Written::TooOld { .. } => (Exit::Nothing, "too_old", None),
    };
    let answer = stands.into_iter().fold(of_key(of, exit).word("outcome", outcome), stamped);
    match written {
        Written::TooOld { horizon } => answer.signed("horizon", *horizon),
        _ => answer,
    }
}

async fn get(args: &GetValue, values: &dyn OrderedStore, out: Outlet<'_>) -> Result<Exit, Failure> {
    let target = out.target(args.out.as_deref())?;
    let found = retry::harmless(Step::Read, || values.get(&args.key.key)).await?;
    match target {
        Some(target) => out.write(&target, found.as_ref().map(|found| &found.value)),
        None => out.print(got(&args.key, found)),
    }
}

fn got(of: &OfKey, found: Option<Versioned>) -> Answer {
    match found {
        Some(Versioned { value, stamp }) => {
            let answer = of_key(of, Exit::Done).word("outcome", "found");
            stamped(answer, &stamp).bytes("value", value.as_bytes())
        }
        None => of_key(of, Exit::Nothing).word("outcome", "absent"),
    }
}

/// With the stamp that stands there, if it is another.
async fn reset(args: &ResetKey, values: &dyn OrderedStore) -> Result<Answer, Failure> {
    let ResetKey { key, stamp } = args;
    let stamp = stamp.that_stands();
    let reset = retry::named(Step::Reset, || values.reset(&key.key, &stamp)).await?;
    Ok(match reset {
        Reset::Reset => of_key(key, Exit::Done).word("outcome", "reset"),
        Reset::Absent => of_key(key, Exit::Nothing).word("outcome", "absent"),
        Reset::Stale { current } => stamped(of_key(key, Exit::Nothing).word("outcome", "stale"), &current),
    })
}

/// A batch at a time, so that an interrupt finds its place; what is forgotten stays forgotten.
async fn purge(args: &Purge, values: &dyn OrderedStore) -> Result<Answer, Failure> {
    let mut purged = 0;
    loop {
        let call = || values.purge(args.older_than, BATCH);
        let Maintained { deleted, more } = retry::harmless(Step::Purge, call).await?;
        purged += deleted;
        if !more {
            return Ok(Answer::new(Exit::Done).text("namespace", &args.of.namespace.name).figure("purged", purged));
        }
        tokio::task::yield_now().await;
    }
}

fn of_key(of: &OfKey, exit: Exit) -> Answer {
    Answer::new(exit).text("namespace", &of.of.namespace.name).text("key", &of.key)
}

fn stamped(answer: Answer, stamp: &Stamp) -> Answer {
    answer.signed("at", stamp.at).text("writer", &stamp.writer)
}
