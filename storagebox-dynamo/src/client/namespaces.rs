//! Namespaces: their keys, and the row that keeps how each was made and how long it remembers what has ended.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::FutureExt as _;
use sha2::{Digest, Sha256};
use storagebox_core::{Error, Namespace, Result, Retention};

pub(crate) use storagebox_core::backend::NamespaceKind as Kind;

use super::{Client, Write, Wrote, millis_of};
use crate::clock::Millis;
use crate::error::{misconfigured, opening};
use crate::ordered_store::without_skew;
use crate::row::{Row, RowKey, VERSION};
use crate::single_flight::SingleFlight;

/// What the partition keys of all namespaces of the kind begin with.
pub(crate) fn prefix_of(kind: Kind, client: &Client) -> String {
    format!("{}{}:", client.settings().prefix, kind.name())
}

/// The name of the namespace of whose part the partition is a shard.
pub(crate) fn named(kind: Kind, client: &Client, partition: &str, part: &str) -> Option<Namespace> {
    let (name, shard) = within(kind, client, partition, part)?;
    shard.parse::<u16>().ok()?;
    Some(name)
}

/// The name of the namespace to whose part the partition belongs, and what it is called within that part.
pub(crate) fn within<'a>(kind: Kind, client: &Client, partition: &'a str, part: &str) -> Option<(Namespace, &'a str)> {
    let (length, rest) = partition.strip_prefix(&prefix_of(kind, client))?.split_once(':')?;
    let (name, rest) = rest.split_at_checked(length.parse().ok()?)?;
    let called = rest.strip_prefix(':')?.strip_prefix(part)?.strip_prefix(':')?;
    Some((Namespace::new(name).ok()?, called))
}

/// How a namespace was made, as far as calls go by it.
#[derive(Clone, Copy, Debug)]
struct Made {
    shards: u16,
    /// How long what has ended is remembered, by everybody.
    memory: Retention,
}

/// What a memory is that is for ever.
const FOREVER: &str = "forever";

/// A memory as it is kept with the namespace.
fn to_stored_text(memory: Retention) -> String {
    millis_of(memory).map_or(FOREVER.to_owned(), |millis| millis.to_string())
}

fn memory_in(row: &Row) -> Option<Retention> {
    match row.text("remember")? {
        FOREVER => Some(Retention::Forever),
        millis => Some(Retention::For(Duration::from_millis(millis.parse().ok()?))),
    }
}

/// A namespace that is open.
pub(crate) struct OpenNamespace {
    client: Arc<Client>,
    name: Namespace,
    kind: Kind,
    options: String,
    /// How long it is to remember what has ended, if that was said.
    memory: Option<Retention>,
    /// Used from every region, whatever its home.
    is_everywhere: bool,
    made: OnceLock<Made>,
    opening: SingleFlight,
}

impl OpenNamespace {
    pub(crate) fn new(client: &Arc<Client>, kind: Kind, name: &Namespace) -> Self {
        Self {
            client: Arc::clone(client),
            name: name.clone(),
            kind,
            options: String::new(),
            memory: client.settings().options.remember,
            is_everywhere: false,
            made: OnceLock::new(),
            opening: SingleFlight::default(),
        }
    }

    /// What the namespace must have been made with (S-4).
    #[must_use]
    pub(crate) fn with_options(mut self, options: String) -> Self {
        self.options = options;
        self
    }

    /// Made with any memory, as upkeep goes by each.
    #[must_use]
    pub(crate) fn of_any_memory(mut self) -> Self {
        self.memory = None;
        self
    }

    /// At home in every region.
    #[must_use]
    pub(crate) fn everywhere(mut self) -> Self {
        self.is_everywhere = true;
        self
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    pub(super) fn name(&self) -> &Namespace {
        &self.name
    }

    /// How many shards the namespace has.
    pub(crate) async fn shards(&self) -> Result<u16> {
        self.made().await.map(|made| made.shards)
    }

    /// From when on what ends at this time need not be remembered; never, if there is none. Only asked once it is known
    /// how the namespace was made.
    pub(crate) fn forgotten_after(&self, end: Millis) -> Option<Millis> {
        debug_assert!(self.made.get().is_some(), "nobody knows yet");
        match self.made.get().map_or(Retention::Forever, |made| made.memory) {
            Retention::Forever => None,
            Retention::For(memory) => Some(end.after(memory)),
        }
    }

    /// The first call makes the namespace, or checks how it was made; one request. It may be made by several: each
    /// finds the same.
    async fn made(&self) -> Result<Made> {
        match self.made.get() {
            Some(made) => Ok(*made),
            // Boxed, because every call carries what it may have to wait for.
            None => self.first_made().boxed().await,
        }
    }

    async fn first_made(&self) -> Result<Made> {
        let _turn = self.opening.next().await;
        match self.made.get() {
            Some(made) => Ok(*made),
            None => self.registered().await.map(|made| *self.made.get_or_init(|| made)),
        }
    }

    async fn registered(&self) -> Result<Made> {
        let shards = self.client.settings().shards;
        let memory = self.memory.unwrap_or(Retention::DEFAULT);
        let row = Row::new(&RowKey::alone(self.key("namespace")))
            .with("made_with", self.options.as_str())
            .with("shards", u32::from(shards))
            .with("remember", to_stored_text(memory))
            .with("schema", VERSION)
            .with_some("home", self.client.region().filter(|_| !self.is_everywhere));
        let put = Write::put(row).only_if("attribute_not_exists(pk)");
        match self.client.write(&put).await.map_err(opening)? {
            Wrote::Done(_) => Ok(Made { shards, memory }),
            Wrote::Refused(Some(made)) => self.adopted(&made).await,
            Wrote::Refused(None) => Err(opening(Error::unknown("the namespace was there and is gone"))),
        }
    }

    async fn adopted(&self, made: &Row) -> Result<Made> {
        let schema: u32 = made.needed("schema", made.number("schema"))?;
        if schema > VERSION {
            let newer = format_args!("a namespace that a newer version made (schema {schema})");
            return Err(Error::unsupported(newer, "that version of storagebox").on("dynamo"));
        }
        let options = made.needed("made_with", made.text("made_with"))?;
        if without_skew(options) != self.options {
            let (name, asked) = (&self.name, &self.options);
            let why = format_args!("{name:?} was created with {options} and cannot be opened with {asked}");
            return Err(misconfigured("namespace", why));
        }
        let memory = made.needed("remember", memory_in(made))?;
        self.check_memory(memory)?;
        self.at_home(made).await.map_err(opening)?;
        Ok(Made { shards: made.needed("shards", made.number("shards"))?, memory })
    }

    /// Whether the namespace remembers for as long as was asked for, if anything was.
    fn check_memory(&self, kept: Retention) -> Result<()> {
        match self.memory.filter(|asked| millis_of(*asked) != millis_of(kept)) {
            None => Ok(()),
            Some(other) => {
                let name = &self.name;
                let why = format_args!("{name:?} was created with {kept}, and cannot be opened with {other}");
                Err(misconfigured("remember", why))
            }
        }
    }

    /// A partition key of the namespace. The name's length comes before the name, so that no name can reach another's
    /// keys.
    pub(crate) fn key(&self, part: impl fmt::Display) -> String {
        let (prefix, name) = (prefix_of(self.kind, &self.client), self.name.as_str());
        format!("{prefix}{}:{name}:{part}", name.len())
    }

    /// The partition of a shard.
    pub(crate) fn partition(&self, part: &str, shard: u16) -> String {
        self.key(format_args!("{part}:{shard}"))
    }

    /// The partition that has rows of this id.
    pub(crate) async fn partition_of(&self, part: &str, id: &str) -> Result<String> {
        Ok(self.partition(part, shard_of(id, self.shards().await?)))
    }
}

impl fmt::Debug for OpenNamespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenNamespace").field("kind", &self.kind).field("name", &self.name).finish_non_exhaustive()
    }
}

/// The row of the namespace of which this is a partition.
pub(crate) fn row_of_namespace(client: &Client, partition: &str) -> Option<RowKey> {
    let prefix = client.settings().prefix.as_str();
    let (kind, rest) = partition.strip_prefix(prefix)?.split_once(':')?;
    let (length, rest) = rest.split_once(':')?;
    let name = rest.get(..length.parse().ok()?)?;
    Some(RowKey::alone(format!("{prefix}{kind}:{length}:{name}:namespace")))
}

/// The same in every process, for ever.
pub(crate) fn shard_of(id: &str, shards: u16) -> u16 {
    let digest = Sha256::digest(id);
    let number = u16::from_be_bytes([digest[30], digest[31]]);
    number % shards.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_spread_over_all_shards() {
        let mut hit = [0; 7];
        (0..700).for_each(|id: u32| hit[usize::from(shard_of(&id.to_string(), 7))] += 1);
        assert!(hit.iter().all(|count| *count > 50), "{hit:?}");
    }

    #[test]
    fn a_shard_never_changes() {
        assert_eq!(["ann", "bob", "é"].map(|id| shard_of(id, 256)), [161, 233, 76]);
    }
}
