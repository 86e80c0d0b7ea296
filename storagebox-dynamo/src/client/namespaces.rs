//! Namespaces: their keys, and the row that stores how each was created.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::FutureExt as _;
use sha2::{Digest, Sha256};
use storagebox_core::backend::SingleFlight;
use storagebox_core::{Error, Namespace, Result, Retention};

pub(crate) use storagebox_core::backend::NamespaceKind as Kind;

use super::{Client, Write, Wrote, millis_of};
use crate::clock::Millis;
use crate::error::{misconfigured, opening};
use crate::ordered_store::without_skew;
use crate::row::{Expiry, Row, RowKey, VERSION};

/// Returns the beginning of the partition keys of all namespaces of this kind.
pub(crate) fn prefix_of(kind: Kind, client: &Client) -> String {
    format!("{}{}:", client.settings().prefix, kind.name())
}

/// A partition key of a namespace, split into its components.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Partition<'a> {
    kind: &'a str,
    name: &'a str,
    rest: &'a str,
}

impl<'a> Partition<'a> {
    /// Splits a partition key; `None` if the key belongs to no namespace of this store.
    pub(crate) fn parse(client: &Client, key: &'a str) -> Option<Self> {
        let (kind, rest) = key.strip_prefix(client.settings().prefix.as_str())?.split_once(':')?;
        let (length, rest) = rest.split_once(':')?;
        let (name, rest) = rest.split_at_checked(length.parse().ok()?)?;
        Some(Self { kind, name, rest: rest.strip_prefix(':')? })
    }

    /// Returns the namespace, and the rest of the key after `part`; `None` for a key of another kind or part.
    pub(crate) fn within(self, kind: Kind, part: &str) -> Option<(Namespace, &'a str)> {
        let rest = self.rest.strip_prefix(part)?.strip_prefix(':')?;
        Some((Namespace::new(self.name).ok()?, rest)).filter(|_| self.kind == kind.name())
    }

    pub(crate) fn namespace_row(self, client: &Client) -> RowKey {
        RowKey::alone(partition_key(client, self.kind, self.name, "namespace"))
    }
}

/// Returns a partition key of a namespace.
fn partition_key(client: &Client, kind: &str, name: &str, rest: impl fmt::Display) -> String {
    // The length before the name ensures that two namespaces have no key in common.
    format!("{}{kind}:{}:{name}:{rest}", client.settings().prefix, name.len())
}

#[derive(Clone, Copy, Debug)]
struct NamespaceInfo {
    shards: u16,
    /// For how long every client remembers ended operations, claims and tokens.
    memory: Retention,
}

/// The stored text of a memory without an end.
const FOREVER: &str = "forever";

fn to_stored_text(memory: Retention) -> String {
    millis_of(memory).map_or(FOREVER.to_owned(), |millis| millis.to_string())
}

fn memory_in(row: &Row) -> Option<Retention> {
    match row.text("remember")? {
        FOREVER => Some(Retention::Forever),
        millis => Some(Retention::For(Duration::from_millis(millis.parse().ok()?))),
    }
}

pub(crate) struct OpenNamespace {
    client: Arc<Client>,
    name: Namespace,
    kind: Kind,
    options: String,
    /// The memory that the program has set; `None` if the program has set no memory.
    memory: Option<Retention>,
    /// Whether the namespace may be used from every region.
    is_everywhere: bool,
    info: OnceLock<NamespaceInfo>,
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
            info: OnceLock::new(),
            opening: SingleFlight::default(),
        }
    }

    /// Sets the options that the namespace must have been created with (S-4).
    #[must_use]
    pub(crate) fn with_options(mut self, options: String) -> Self {
        self.options = options;
        self
    }

    /// Accepts any memory that the namespace was created with.
    #[must_use]
    pub(crate) fn of_any_memory(mut self) -> Self {
        self.memory = None;
        self
    }

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

    pub(crate) async fn shards(&self) -> Result<u16> {
        self.info().await.map(|info| info.shards)
    }

    /// Returns when an operation, claim or token that ends at `end` is forgotten; `None` means never. The namespace
    /// must be open: [`shards`](Self::shards) and [`key_of`](Self::key_of) open it.
    pub(crate) fn forgotten_after(&self, end: Millis) -> Option<Millis> {
        debug_assert!(self.info.get().is_some(), "the namespace is not open");
        match self.info.get().map_or(Retention::Forever, |info| info.memory) {
            Retention::Forever => None,
            Retention::For(memory) => Some(end.after(memory)),
        }
    }

    /// Returns the expiry of a row whose state ends at `end`; `None` if the row never expires.
    pub(crate) fn expiry_after(&self, end: Option<Millis>) -> Option<Expiry> {
        end.and_then(|end| self.forgotten_after(end)).map(|forgotten| self.client.expiry(forgotten))
    }

    /// Returns the stored settings of the namespace. The first call creates the namespace if it does not exist.
    async fn info(&self) -> Result<NamespaceInfo> {
        match self.info.get() {
            Some(info) => Ok(*info),
            // Boxed, because the future of every call contains this one.
            None => self.first_info().boxed().await,
        }
    }

    async fn first_info(&self) -> Result<NamespaceInfo> {
        let _flight = self.opening.next().await;
        match self.info.get() {
            Some(info) => Ok(*info),
            None => self.created_or_checked().await.map(|info| *self.info.get_or_init(|| info)),
        }
    }

    async fn created_or_checked(&self) -> Result<NamespaceInfo> {
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
            Wrote::Done(_) => Ok(NamespaceInfo { shards, memory }),
            Wrote::Refused(Some(row)) => self.checked(&row).await,
            Wrote::Refused(None) => Err(opening(Error::unknown("the row of the namespace was deleted meanwhile"))),
        }
    }

    async fn checked(&self, row: &Row) -> Result<NamespaceInfo> {
        let schema: u32 = row.needed("schema", row.number("schema"))?;
        if schema > VERSION {
            let newer = format_args!("a namespace that a newer version created (schema {schema})");
            return Err(Error::unsupported(newer, "that version of storagebox").on("dynamo"));
        }
        let options = row.needed("made_with", row.text("made_with"))?;
        if without_skew(options) != self.options {
            let (name, asked) = (&self.name, &self.options);
            let why = format_args!("{name:?} was created with {options} and cannot be opened with {asked}");
            return Err(misconfigured("namespace", why));
        }
        let memory = row.needed("remember", memory_in(row))?;
        self.check_memory(memory)?;
        self.at_home(row).await.map_err(opening)?;
        Ok(NamespaceInfo { shards: row.needed("shards", row.number("shards"))?, memory })
    }

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

    pub(crate) fn key(&self, part: impl fmt::Display) -> String {
        partition_key(&self.client, self.kind.name(), self.name.as_str(), part)
    }

    pub(crate) fn partition(&self, part: &str, shard: u16) -> String {
        self.key(format_args!("{part}:{shard}"))
    }

    /// Returns the key of an id's row in the id's shard. `part` names the kind of the row.
    pub(crate) async fn key_of(&self, part: &str, id: &str) -> Result<RowKey> {
        Ok(RowKey::new(self.partition(part, shard_of(id, self.shards().await?)), id))
    }
}

impl fmt::Debug for OpenNamespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenNamespace").field("kind", &self.kind).field("name", &self.name).finish_non_exhaustive()
    }
}

/// Returns the shard of an id. Every process and every version computes the same shard.
fn shard_of(id: &str, shards: u16) -> u16 {
    let digest = Sha256::digest(id);
    let number = u16::from_be_bytes([digest[30], digest[31]]);
    number % shards.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_spread_over_all_shards() {
        let mut hit = [0; 7];
        (0..700).for_each(|id: u32| hit[usize::from(shard_of(&id.to_string(), 7))] += 1);
        assert!(hit.iter().all(|count| *count > 50), "{hit:?}");
    }

    #[test]
    fn the_shard_of_an_id_never_changes() {
        assert_eq!(["ann", "bob", "é"].map(|id| shard_of(id, 256)), [161, 233, 76]);
    }
}
