//! Boxes: their keys, and the row that keeps how each was made.

use std::fmt;
use std::sync::{Arc, OnceLock};

use sha2::{Digest, Sha256};
use storagebox_core::{BoxName, Error, Result};

use super::{Client, Write, Wrote};
use crate::error::{misconfigured, opening};
use crate::row::{Row, RowKey};
use crate::schema::VERSION;
use crate::turns::Turns;

/// What a box is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bank,
    Records,
    Tokens,
    Counters,
    Ordered,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Bank => "bank",
            Self::Records => "records",
            Self::Tokens => "tokens",
            Self::Counters => "counters",
            Self::Ordered => "ordered",
        }
    }

    /// What the partition keys of all boxes of the kind begin with.
    pub(crate) fn prefix(self, client: &Client) -> String {
        format!("{}{}:", client.settings().prefix, self.name())
    }

    /// The name of the box of whose part the partition is a shard.
    pub(crate) fn named(self, client: &Client, partition: &str, part: &str) -> Option<BoxName> {
        let (length, rest) = partition.strip_prefix(&self.prefix(client))?.split_once(':')?;
        let (name, rest) = rest.split_at_checked(length.parse().ok()?)?;
        let shard = rest.strip_prefix(':')?.strip_prefix(part)?.strip_prefix(':')?;
        shard.parse::<u16>().ok()?;
        BoxName::new(name).ok()
    }
}

/// A box that is open.
pub(crate) struct OpenBox {
    client: Arc<Client>,
    name: BoxName,
    kind: Kind,
    options: String,
    /// Used from every region, whatever its home.
    is_everywhere: bool,
    shards: OnceLock<u16>,
    opening: Turns,
}

impl OpenBox {
    pub(crate) fn new(client: &Arc<Client>, kind: Kind, name: &BoxName) -> Self {
        Self {
            client: Arc::clone(client),
            name: name.clone(),
            kind,
            options: String::new(),
            is_everywhere: false,
            shards: OnceLock::new(),
            opening: Turns::default(),
        }
    }

    /// What the box must have been made with (S-4).
    #[must_use]
    pub(crate) fn with_options(mut self, options: String) -> Self {
        self.options = options;
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

    pub(super) fn name(&self) -> &BoxName {
        &self.name
    }

    /// How many shards the box has. The first call makes the box, or checks how it was made; one request. It may be made by
    /// several: each finds the same.
    pub(crate) async fn shards(&self) -> Result<u16> {
        if let Some(shards) = self.shards.get() {
            return Ok(*shards);
        }
        let _turn = self.opening.next().await;
        match self.shards.get() {
            Some(shards) => Ok(*shards),
            None => self.registered().await.map(|shards| *self.shards.get_or_init(|| shards)),
        }
    }

    async fn registered(&self) -> Result<u16> {
        let shards = self.client.settings().shards;
        let row = Row::new(&RowKey::alone(self.key("box")))
            .with("made_with", self.options.as_str())
            .with("shards", u32::from(shards))
            .with("schema", VERSION)
            .with_some("home", self.client.region().filter(|_| !self.is_everywhere));
        let put = Write::put(row).only_if("attribute_not_exists(pk)");
        match self.client.write(&put).await.map_err(opening)? {
            Wrote::Done(_) => Ok(shards),
            Wrote::Refused(Some(made)) => self.adopted(&made).await,
            Wrote::Refused(None) => Err(opening(Error::unknown("the box was there and is gone"))),
        }
    }

    async fn adopted(&self, made: &Row) -> Result<u16> {
        let schema: u32 = made.needed("schema", made.number("schema"))?;
        if schema > VERSION {
            let newer = format_args!("a box that a newer version made (schema {schema})");
            return Err(Error::unsupported(newer, "that version of storagebox").on("dynamo"));
        }
        let options = made.needed("made_with", made.text("made_with"))?;
        if options != self.options {
            let (name, asked) = (&self.name, &self.options);
            let why = format_args!("{name:?} was created with {options} and cannot be opened with {asked}");
            return Err(misconfigured("box", why));
        }
        self.at_home(made).await.map_err(opening)?;
        made.needed("shards", made.number("shards"))
    }

    /// A partition key of the box. The name's length comes before the name, so that no name can reach another's keys.
    pub(crate) fn key(&self, part: impl fmt::Display) -> String {
        let (prefix, name) = (self.kind.prefix(&self.client), self.name.as_str());
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

impl fmt::Debug for OpenBox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenBox").field("kind", &self.kind).field("name", &self.name).finish_non_exhaustive()
    }
}

/// The row of the box of which this is a partition.
pub(crate) fn row_of_box(client: &Client, partition: &str) -> Option<RowKey> {
    let prefix = client.settings().prefix.as_str();
    let (kind, rest) = partition.strip_prefix(prefix)?.split_once(':')?;
    let (length, rest) = rest.split_once(':')?;
    let name = rest.get(..length.parse().ok()?)?;
    Some(RowKey::alone(format!("{prefix}{kind}:{length}:{name}:box")))
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
