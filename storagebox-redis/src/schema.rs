//! Creates the store and checks the server.

use storagebox_core::{Error, ErrorKind, Ids as _, RandomIds, Result, Retention};

use crate::client::{Client, ScriptCall, VERSION, to_stored_text};
use crate::config::{Eviction, Settings};
use crate::script::{Script, script};

static SETUP: Script = script!("store_setup", CHANGES, [], "store/setup").asking_for_all();
pub(crate) static LOOK: Script = script!("store_version", READS, [], "store/version").asking_for_all();

/// Creates the store if it does not exist and the server is suitable. A client that has opened the store before only
/// checks the store.
pub(crate) async fn setup(client: &Client) -> Result<()> {
    check_server(client, "setup").await?;
    // If the store was lost, a new store in its place would hide the loss from other clients.
    if !client.epoch().is_empty() {
        return client.enter("setup", &ScriptCall::new(&LOOK, client.store())).await.map(drop);
    }
    let epoch = new_epoch();
    let memory = to_stored_text(client.settings().options.remember.unwrap_or(Retention::DEFAULT));
    let call = ScriptCall::new(&SETUP, client.store()).with(VERSION).with(epoch.as_str()).with(memory.as_str());
    client.enter("setup", &call).await.map(drop)
}

fn new_epoch() -> String {
    // From the system's random numbers, because a program may seed those of the process.
    RandomIds.fresh()
}

/// Checks that the store has this library's version, and that the server is suitable.
pub(crate) async fn ping(client: &Client) -> Result<()> {
    let call = ScriptCall::new(&LOOK, client.store());
    client.enter("ping", &call).await?;
    check_server(client, "ping").await
}

async fn check_server(client: &Client, operation: &'static str) -> Result<()> {
    let info = client.settle(operation, || client.server_info()).await?;
    check(&info, client.settings()).map_err(|error| error.during(operation))
}

pub(crate) fn check(info: &str, settings: &Settings) -> Result<()> {
    let fields = |name: &'static str| {
        info.lines().filter_map(move |line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim_end)
    };
    check_role(info)?;
    if let Some(version) = fields("redis_version").find(|version| is_too_old(version)) {
        let what = format!("Redis {version}");
        return Err(Error::unsupported(what, "Redis 7.0 or later").on("redis"));
    }
    if settings.require_aof && !fields("aof_enabled").all(|found| found == "1") {
        let what = "a server without an append-only file (`require_aof` is on)";
        return Err(Error::unsupported(what, "a server with `appendonly yes`").on("redis"));
    }
    match (fields("maxmemory_policy").find(|policy| evicts(policy)), settings.eviction) {
        (None, _) => Ok(()),
        (Some(policy), Eviction::Warn) => {
            tracing::warn!(policy, "the server evicts keys when its memory is full, which breaks guarantees");
            Ok(())
        }
        (Some(policy), Eviction::Refuse) => {
            let what = format!("a server that evicts keys (`maxmemory-policy` is {policy})");
            Err(Error::unsupported(what, "a server with `maxmemory-policy noeviction`").on("redis"))
        }
    }
}

/// Refuses a replica.
pub(crate) fn check_role(info: &str) -> Result<()> {
    // A replica that accepts changes (`replica-read-only no`) loses them, and its answers may be old.
    match info.lines().any(|line| line.trim_end() == "role:slave") {
        true => Err(Error::new(ErrorKind::Unavailable, "the server is a replica").on("redis")),
        false => Ok(()),
    }
}

/// Returns whether a server with this `maxmemory-policy` may evict keys that never expire.
fn evicts(policy: &str) -> bool {
    policy != "noeviction" && !policy.starts_with("volatile-")
}

fn is_too_old(version: &str) -> bool {
    // Before 7.0, a script cannot ask the server to refuse the whole script when memory is short.
    version.split('.').next().and_then(|major| major.parse().ok()).is_some_and(|major: u32| major < 7)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The program sets the same seed before each epoch is made, and the epochs differ.
    #[test]
    fn an_epoch_is_random_although_the_program_sets_a_seed() {
        let epoch = || {
            fastrand::seed(42);
            new_epoch()
        };
        assert_ne!(epoch(), epoch());
    }

    #[test]
    fn a_server_before_version_seven_is_too_old() {
        assert!(is_too_old("6.2.14") && is_too_old("5.0.0"));
        assert!(!is_too_old("7.0.15") && !is_too_old("8.0.0") && !is_too_old("255.255.255") && !is_too_old("unstable"));
    }

    #[test]
    fn a_policy_for_expiring_keys_evicts_no_key_of_the_store() {
        for policy in ["noeviction", "volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl"] {
            assert!(!evicts(policy), "{policy}");
        }
        for policy in ["allkeys-lru", "allkeys-lfu", "allkeys-random", "another", ""] {
            assert!(evicts(policy), "{policy}");
        }
    }
}
