//! `storagebox ordered ...`: values that an older write never overwrites.

#[cfg(test)]
mod tests;

use humantime::format_duration;
use jiff::Timestamp;
use storagebox::ordered::{ListedValue, Reset, Versioned};
use storagebox::values::Key;
use storagebox::{Maintained, OrderedValues, Stamp, Store, Written, async_trait};

use super::listing::{self, Cell, Row};
use super::store_command::{Output, StoreCommand};
use crate::answer::Answer;
use crate::cli::{Delete, GetValue, ListValues, OfKey, Ordered, Purge, Put, ResetKey};
use crate::content;
use crate::exit::{Exit, Failure};
use crate::message::{Kind, eprint_message};
use crate::output::Reserved;

const BATCH: usize = 1_000;

#[async_trait]
impl StoreCommand for Ordered {
    async fn ask(self, store: &Store, out: Output<'_>) -> Result<Exit, Failure> {
        let of = self.of();
        let values = &store.ordered_with(&of.namespace.name, of.options()?)?;
        let answer = match self {
            Ordered::List(args) => return list(&args, values, out).await,
            Ordered::Get(args) => return get(&args, values, out).await,
            Ordered::Put(args) => put(&args, values, out.reserved).await?,
            Ordered::Delete(args) => delete(&args, values).await?,
            Ordered::Reset(args) => reset(&args, values).await?,
            Ordered::Purge(args) => purge(&args, values).await?,
        };
        out.print(answer)
    }
}

/// Lists the values whose keys begin with the prefix. The prefix need not be a valid key.
async fn list(args: &ListValues, values: &OrderedValues, out: Output<'_>) -> Result<Exit, Failure> {
    let Output { as_json, to, .. } = out;
    match args.prefix.as_deref().unwrap_or_default() {
        "" => listing::list(|| values.list(), args.limit, as_json, to).await,
        prefix => {
            let limit = if Key::new(prefix).is_ok() { args.limit } else { Some(0) };
            listing::list(|| values.list_prefix(prefix), limit, as_json, to).await
        }
    }
}

impl Row for ListedValue {
    const HEADER: &'static [&'static str] = &["key", "at", "writer", "value"];

    fn cells(&self) -> Vec<Cell<'_>> {
        let at = Cell::Figure(self.versioned.stamp.at.into());
        let writer = Cell::Text(self.versioned.stamp.writer.as_str());
        vec![Cell::Text(self.key.as_str()), at, writer, Cell::Bytes(self.versioned.value.as_bytes())]
    }
}

async fn put(args: &Put, values: &OrderedValues, reserved: &Reserved) -> Result<Answer, Failure> {
    let Put { key, content, write } = args;
    let (value, stamp) = (content::read(content, reserved).await?, write.stamp(&key.of)?);
    let written = values.put(&key.key, value).at(stamp.at).by(&stamp.writer).await?;
    explain(key, &stamp, &written);
    Ok(answer(key, &stamp, &written))
}

async fn delete(args: &Delete, values: &OrderedValues) -> Result<Answer, Failure> {
    let Delete { key, write } = args;
    let stamp = write.stamp(&key.of)?;
    let written = values.delete(&key.key).at(stamp.at).by(&stamp.writer).await?;
    explain(key, &stamp, &written);
    Ok(answer(key, &stamp, &written))
}

/// Prints why a write is too old, and which options help.
fn explain(of: &OfKey, own: &Stamp, written: &Written) {
    if let Written::TooOld { horizon } = written {
        let (at, oldest, age) = (time(own.at), time(*horizon), format_duration(of.of.tombstone_age));
        eprint_message(
            Kind::Note,
            format_args!(
                "--at {at} is before {oldest}, which is --tombstone-age ({age}) behind the store's clock; a delete of a \
                 newer time may be forgotten by now"
            ),
        );
        eprint_message(
            Kind::Help,
            format_args!(
                "load old values into a new namespace; give each command a --tombstone-age above the age of the oldest \
                 value, such as 36500d; for numbers of your own give each `--stamps sequence`"
            ),
        );
    }
}

/// Formats the number of a stamp. Adds the time if the number is a plausible time.
fn time(at: i64) -> String {
    match Timestamp::from_millisecond(at) {
        Ok(time) if at >= 0 => format!("{at} ({time:.3})"),
        _ => at.to_string(),
    }
}

/// Returns the answer, with the current stamp of the key if the stamp is known.
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

async fn get(args: &GetValue, values: &OrderedValues, out: Output<'_>) -> Result<Exit, Failure> {
    let target = out.target(&args.output)?;
    let found = values.get(&args.key.key).await?;
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

/// Resets the key if the key has the given stamp. Otherwise shows the current stamp of the key.
async fn reset(args: &ResetKey, values: &OrderedValues) -> Result<Answer, Failure> {
    let ResetKey { key, stamp } = args;
    let stamp = stamp.that_stands();
    Ok(match values.reset(&key.key).at(stamp.at).by(&stamp.writer).await? {
        Reset::Reset => of_key(key, Exit::Done).word("outcome", "reset"),
        Reset::Absent => of_key(key, Exit::Nothing).word("outcome", "absent"),
        Reset::Stale { current } => stamped(of_key(key, Exit::Nothing).word("outcome", "stale"), &current),
    })
}

/// Purges in batches, so that a signal can interrupt the command between two batches.
async fn purge(args: &Purge, values: &OrderedValues) -> Result<Answer, Failure> {
    let mut purged = 0;
    loop {
        let Maintained { deleted, more } = values.purge(args.older_than, BATCH).await?;
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
