//! The names of keys, the store's version, and what the server must be like.

use std::fmt::{self, Write};
use std::time::Duration;

use redis::cmd;
use storagebox_core::{BoxName, ClaimId, Error, ErrorKind, Ids as _, RandomIds, Result, Retention};

use crate::client::{Answer, Call, Client, micros_of};
use crate::config::{Eviction, bad};
use crate::script::{Script, script};

/// The version that this library works with.
pub(crate) const VERSION: i64 = 1;

static SETUP: Script = script!("store_setup", CHANGES, [], "store/setup");
static LOOK: Script = script!("store_version", READS, [], "store/version");

/// What all keys of a store begin with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prefix(String);

impl Default for Prefix {
    fn default() -> Self {
        Self("storagebox".to_owned())
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Prefix {
    /// Checks the prefix: a brace in it would be taken for a hash tag, and a star for a pattern.
    pub(crate) fn new(prefix: &str) -> Result<Self> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:".contains(&byte);
        if (1..=64).contains(&prefix.len()) && prefix.bytes().all(is_plain) {
            return Ok(Self(prefix.to_owned()));
        }
        Err(bad("prefix", "must be 1 to 64 of a-z, A-Z, 0-9, _, -, . and :"))
    }

    /// The key of what belongs to no box.
    pub(crate) fn store(&self) -> String {
        format!("{self}:{{store}}")
    }

    /// The key of a box by what [`tag`] made of it. The braces make all keys of a box go to one slot of a cluster.
    pub(crate) fn of(&self, tag: &str) -> String {
        format!("{self}:{{{tag}}}")
    }
}

/// The kind of a box, its name, and which of its parts: for now every box has one, number 0.
///
/// The name is escaped, so that nothing in it can end the tag, and no two names look alike.
pub(crate) fn tag(kind: &str, name: &BoxName) -> String {
    let mut tag = format!("{kind}.");
    for byte in name.as_str().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' => tag.push(char::from(byte)),
            // Writing to a string does not fail.
            _ => drop(write!(tag, "%{byte:02X}")),
        }
    }
    tag.push_str(".0");
    tag
}

/// What the bucket of a claim is found by, as `lua/lib/buckets.lua` works it out.
pub(crate) fn hash(claim: &ClaimId) -> u32 {
    let [high, middle, low, ..] = sha1_smol::Sha1::from(claim.as_str()).digest().bytes();
    u32::from_be_bytes([0, high, middle, low])
}

/// Makes the store, if the server may hold it. On one that is there it changes nothing. Who has one open only looks: where
/// that one was lost, another in its place would hide the loss from those that come next.
pub(crate) async fn setup(client: &Client) -> Result<()> {
    check_server(client, "setup").await?;
    if !client.epoch().is_empty() {
        return client.enter("setup", &Call::new(&LOOK, client.store())).await.map(drop);
    }
    let epoch = new_epoch();
    let memory = in_words(client.settings().memory.unwrap_or(Retention::DEFAULT));
    let call = Call::new(&SETUP, client.store()).with(VERSION).with(epoch.as_str()).with(memory.as_str());
    client.enter("setup", &call).await.map(drop)
}

/// One that no store had before. It is the system's randomness: a program may seed its own.
fn new_epoch() -> String {
    RandomIds.fresh()
}

/// Whether the store is there and of this library's version.
pub(crate) async fn ping(client: &Client) -> Result<()> {
    let call = Call::new(&LOOK, client.store());
    client.enter("ping", &call).await?;
    check_server(client, "ping").await
}

/// What a store says of itself: the beginning of what scripts about it answer.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// Made by chance when the store was made, so that a store that was lost is not taken for its successor.
    pub(crate) epoch: String,
    /// How long what has ended is remembered, by everybody.
    pub(crate) memory: Retention,
}

/// What a memory is that is for ever.
const FOREVER: &str = "forever";

/// A memory as it is kept with the store.
fn in_words(memory: Retention) -> String {
    micros_of(memory).map_or(FOREVER.to_owned(), |micros| micros.to_string())
}

fn memory(words: &str) -> Option<Retention> {
    match words {
        FOREVER => Some(Retention::Forever),
        _ => words.parse().ok().map(|micros| Retention::For(Duration::from_micros(micros))),
    }
}

impl Known {
    pub(crate) fn of(answer: &Answer) -> Result<Self> {
        check_text(answer.text(0)?)?;
        match (answer.text(1)?, memory(answer.text(2)?)) {
            (epoch, Some(memory)) if !epoch.is_empty() => Ok(Self { epoch: epoch.to_owned(), memory }),
            _ => Err(Error::corrupt("the store", "it has no epoch, or no memory").on("redis")),
        }
    }

    /// Whether this is what was asked for, if anything was.
    pub(crate) fn check(&self, memory: Option<Retention>) -> Result<()> {
        match memory.filter(|memory| micros_of(*memory) != micros_of(self.memory)) {
            None => Ok(()),
            Some(other) => {
                let kept = self.memory;
                let why = format_args!("the store was set up with {kept}, and cannot be opened with {other}");
                Err(Error::misconfigured("memory", why).on("redis"))
            }
        }
    }
}

/// Judges the version that a script found; an empty one is none.
fn check_text(version: &str) -> Result<()> {
    if version.is_empty() {
        return Err(Error::new(ErrorKind::NotSetUp, "there is no store with this prefix").on("redis"));
    }
    version
        .parse()
        .map_or_else(|_| Err(Error::corrupt("the store's version", "it is no number").on("redis")), check)
}

fn check(version: i64) -> Result<()> {
    if version == VERSION {
        return Ok(());
    }
    if version > VERSION {
        let what = format!("the store's version {version}: this library knows up to {VERSION}, and it");
        return Err(Error::unsupported(what, "a newer storagebox").on("redis"));
    }
    let why = format!("the store is of version {version}, and this library needs {VERSION}");
    Err(Error::new(ErrorKind::NotSetUp, why).on("redis"))
}

/// Whether what the server promises about memory and disk is enough.
async fn check_server(client: &Client, operation: &'static str) -> Result<()> {
    let info = client.settled(operation, || client.info()).await?;
    let fields = |name: &'static str| {
        info.lines().filter_map(move |line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim_end)
    };
    let settings = client.settings();
    if let Some(version) = fields("redis_version").find(|version| is_too_old(version)) {
        let what = format!("Redis {version}");
        return Err(Error::unsupported(what, "7.0 or later").on("redis").during(operation));
    }
    if settings.require_aof && !fields("aof_enabled").all(|found| found == "1") {
        let what = "a server without an append-only file (`require_aof` is on)";
        return Err(Error::unsupported(what, "one with `appendonly yes`").on("redis").during(operation));
    }
    match (fields("maxmemory_policy").find(|policy| evicts(policy)), settings.eviction) {
        (None, _) => Ok(()),
        (Some(policy), Eviction::Warn) => {
            tracing::warn!(policy, "the server evicts keys when its memory is full, and promises with them");
            Ok(())
        }
        (Some(policy), Eviction::Refuse) => {
            let what = format!("a server that evicts keys (`maxmemory-policy` is {policy})");
            Err(Error::unsupported(what, "one with `maxmemory-policy noeviction`")
                .on("redis")
                .during(operation))
        }
    }
}

/// Whether keys that do not expire may be evicted: none of ours does.
fn evicts(policy: &str) -> bool {
    policy != "noeviction" && !policy.starts_with("volatile-")
}

/// Before 7.0 a script cannot say that it is to be refused as a whole.
fn is_too_old(version: &str) -> bool {
    version.split('.').next().and_then(|major| major.parse().ok()).is_some_and(|major: u32| major < 7)
}

/// The sections of the server's own description that are looked at.
pub(crate) fn description() -> redis::Cmd {
    cmd("INFO")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag_of(name: &str) -> String {
        tag("b", &BoxName::new(name).unwrap())
    }

    #[test]
    fn a_tag_is_readable_and_nothing_in_a_name_ends_it() {
        assert_eq!(tag_of("vouchers-2026"), "b.vouchers-2026.0");
        assert_eq!(tag_of("}{:*.%\n"), "b.%7D%7B%3A%2A%2E%25%0A.0");
        assert!(tag_of("é").is_ascii());
    }

    /// A program may seed them for results that can be repeated.
    #[test]
    fn an_epoch_is_not_of_the_programs_random_numbers() {
        let epoch = || {
            fastrand::seed(42);
            new_epoch()
        };
        assert_ne!(epoch(), epoch());
    }

    #[test]
    fn no_two_names_share_a_tag() {
        let names = ["a", "A", "a.0", "a%2E0", "a:b", "a}b", "%", "%25", "é", "e\u{301}"];
        let mut tags: Vec<_> = names.iter().map(|name| tag_of(name)).collect();
        tags.sort();
        tags.dedup();
        assert_eq!(tags.len(), names.len());
    }

    #[test]
    fn a_server_before_7_is_too_old() {
        assert!(is_too_old("6.2.14") && is_too_old("5.0.0"));
        assert!(
            !is_too_old("7.0.15")
                && !is_too_old("8.0.0")
                && !is_too_old("255.255.255")
                && !is_too_old("unstable")
        );
    }

    #[test]
    fn a_policy_that_spares_what_does_not_expire_evicts_nothing() {
        for policy in ["noeviction", "volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl"] {
            assert!(!evicts(policy), "{policy}");
        }
        for policy in ["allkeys-lru", "allkeys-lfu", "allkeys-random", "another", ""] {
            assert!(evicts(policy), "{policy}");
        }
    }

    #[test]
    fn a_prefix_is_plain() {
        for good in ["storagebox", "shop:live", "A.b-c_9"] {
            assert_eq!(Prefix::new(good).unwrap().of("b.a.0"), format!("{good}:{{b.a.0}}"));
        }
        for bad in
            ["", "{a}", "a{", "a}", "a*", "a?", "[a]", "a^", "a\\", "a|", "a b", "a\n", "é", &"a".repeat(65)]
        {
            assert!(Prefix::new(bad).is_err(), "{bad}");
        }
    }
}
