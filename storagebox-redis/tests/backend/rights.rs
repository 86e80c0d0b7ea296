//! The user that the README describes: what the user can reach, and what not.

use redis::{Cmd, cmd};
use storagebox_conformance::keeps_text;
use storagebox_core::{
    Backend, Certainty, Counter as _, DedupRepo as _, EntityLedger as _, Error, ErrorKind, Hold, Item, ItemBank, Joins,
    Key, Namespace, OrderedOptions, OrderedStore as _, Result, Strategy, TokenStore as _,
};
use storagebox_redis::RedisStore;
use storagebox_testkit::redis::Settings;

use crate::scene::{with_place, with_server};
use crate::structure::keys;
use crate::support::{Place, failed, grants};

const COMMANDS: &str = include_str!("../../lua/commands.txt");

/// A user with the rights that the README lists for one store.
struct User<'a> {
    place: &'a Place,
    name: String,
}

impl<'a> User<'a> {
    async fn of(place: &'a Place, prefix: &str) -> Result<Self> {
        let name = format!("{}_alone", place.server.user());
        let user = Self { place, name };
        user.set(&grants(prefix)).await?;
        Ok(user)
    }

    async fn set(&self, rules: &str) -> Result<()> {
        let mut set = cmd("ACL");
        set.arg("SETUSER").arg(&self.name);
        set.arg(rules.split_whitespace().collect::<Vec<_>>());
        self.place.server.ask(&set).await
    }

    fn store(&self, prefix: &str) -> Result<RedisStore> {
        let url = self.place.server.url_at(self.place.server.address());
        let own = url.replace(&format!("{}:", self.place.server.user()), &format!("{}:", self.name));
        RedisStore::builder().prefix(prefix)?.connect(&own)
    }

    /// Returns whether the server would let the user make this call.
    async fn may(&self, call: &[&str]) -> Result<bool> {
        let mut dry = cmd("ACL");
        dry.arg("DRYRUN").arg(&self.name).arg(call);
        Ok(self.place.server.ask::<String>(&dry).await? == "OK")
    }

    async fn remove(self) -> Result<()> {
        self.place.server.ask(cmd("ACL").arg("DELUSER").arg(&self.name)).await
    }
}

/// Returns prefixes that a wrong pattern for this prefix could match.
fn neighbours(prefix: &str) -> Vec<String> {
    let shorter = prefix[..prefix.len() - 1].to_owned();
    let longer = [":eu", "2", ".", "-", "_", ":", ":a:b"].iter().map(|more| format!("{prefix}{more}"));
    longer.chain([shorter]).collect()
}

#[test]
fn the_acl_rules_allow_every_part_of_the_store() -> Result<()> {
    with_place(async |place| {
        let user = User::of(place, &place.prefix).await?;
        let store = user.store(&place.prefix)?;
        store.setup().await?;
        store.ping().await?;
        keeps_text(&store, "text").await.map_err(failed)?;
        store.maintain(10).await?;
        user.remove().await
    })
}

/// Regression: the key pattern `~shop:*` for the prefix `shop` gave access to the store with the prefix `shop:eu`.
#[test]
fn a_user_of_one_prefix_is_denied_similar_prefixes() -> Result<()> {
    with_place(async |place| {
        let user = User::of(place, &place.prefix).await?;
        for prefix in neighbours(&place.prefix) {
            // The administrator fills the other store, so that it has data to protect.
            let theirs = place.builder()?.prefix(&prefix)?.connect(place.server.url_as_administrator())?;
            theirs.setup().await?;
            keeps_text(&theirs, "text").await.map_err(failed)?;
            let store = user.store(&prefix)?;
            let refused = [
                store.ping().await.unwrap_err(),
                store.setup().await.unwrap_err(),
                store.item_bank(&"text".parse()?)?.counts().await.unwrap_err(),
            ];
            for error in refused {
                assert_eq!(error.kind(), ErrorKind::Denied, "{prefix}: {error}");
            }
        }
        user.remove().await
    })
}

/// The user of a store can read no other keys and run no administrative command.
#[test]
fn the_key_pattern_matches_only_keys_of_the_store() -> Result<()> {
    with_place(async |place| {
        for prefix in ["shop", "shop:eu", "s.h-o_p:2", ":", "-", "9"] {
            let user = User::of(place, prefix).await?;
            for own in [format!("{prefix}:{{store}}"), format!("{prefix}:{{b.namespace.0}}:i:5")] {
                assert!(user.may(&["HGET", &own, "field"]).await?, "{prefix} has no {own}");
            }
            for other in neighbours(prefix).into_iter().map(|other| format!("{other}:{{store}}")).chain([
                format!("{prefix}:"),
                format!("{prefix}:key"),
                prefix.to_owned(),
                format!("x{prefix}:{{store}}"),
                "{store}".to_owned(),
            ]) {
                assert!(!user.may(&["HGET", &other, "field"]).await?, "{prefix} reaches {other}");
            }
            for command in [&["KEYS", "*"][..], &["SCAN", "0"], &["FLUSHALL"], &["ACL", "LIST"], &["SELECT", "1"]] {
                assert!(!user.may(command).await?, "{prefix} may {command:?}");
            }
            user.remove().await?;
        }
        Ok(())
    })
}

/// The rules remove all passwords, keys, channels, commands and selectors that the user had before.
#[test]
fn the_acl_rules_remove_earlier_rights_of_the_user() -> Result<()> {
    with_place(async |place| {
        let user = User::of(place, "shop").await?;
        let fresh = described(&user).await?;
        user.set("on nopass >hunter2-old allkeys allchannels allcommands (+@all)").await?;
        assert_ne!(described(&user).await?, fresh);
        user.set(&grants("shop")).await?;
        assert_eq!(described(&user).await?, fresh);
        user.remove().await
    })
}

/// Returns the server's description of a user, with its words in a fixed order.
async fn described(user: &User<'_>) -> Result<String> {
    let list: Vec<String> = user.place.server.ask(Cmd::new().arg("ACL").arg("LIST")).await?;
    let own = format!("user {} ", user.name);
    list.into_iter().find(|line| line.starts_with(&own)).ok_or_else(|| failed("there is no such user"))
}

/// `ping`, `setup` and upkeep report each missing right that a later call may need.
#[test]
fn a_ping_checks_every_right() -> Result<()> {
    with_place(async |place| {
        let user = User::of(place, &place.prefix).await?;
        let store = user.store(&place.prefix)?;
        store.setup().await?;
        for command in COMMANDS.lines().filter_map(|line| line.split(' ').next()) {
            user.set(&format!("-{command}")).await?;
            for error in [
                store.ping().await.unwrap_err(),
                store.maintain(1).await.unwrap_err(),
                store.setup().await.unwrap_err(),
            ] {
                assert_eq!((error.kind(), error.certainty()), (ErrorKind::Denied, Certainty::NotApplied), "{error}");
                assert!(error.to_string().contains(&format!("+{command}")), "{command}: {error}");
            }
            user.set(&format!("+{command}")).await?;
            store.ping().await?;
        }
        user.remove().await
    })
}

#[test]
fn a_first_call_with_one_right_missing_is_denied() -> Result<()> {
    with_place(async |place| {
        let user = User::of(place, &place.prefix).await?;
        let before = keys(place).await?;
        for command in COMMANDS.lines().filter_map(|line| line.split(' ').next()) {
            user.set(&format!("-{command}")).await?;
            for error in first_calls(&user, &place.prefix).await? {
                let (kind, certainty) = (error.kind(), error.certainty());
                assert_eq!((kind, certainty), (ErrorKind::Denied, Certainty::NotApplied), "{command}: {error}");
            }
            user.set(&format!("+{command}")).await?;
        }
        assert_eq!(keys(place).await?, before);
        user.remove().await
    })
}

/// Returns the error of the first call of each part, each in a new store.
async fn first_calls(user: &User<'_>, prefix: &str) -> Result<Vec<Error>> {
    let (name, key): (Namespace, Key) = ("namespace".parse()?, "key".parse()?);
    let store = || user.store(prefix);
    Ok(vec![
        store()?.item_bank(&name)?.counts().await.unwrap_err(),
        store()?.item_bank(&name)?.add(&[Item::new("one")?]).await.unwrap_err(),
        store()?.dedup_repo(&name)?.get(&"id".parse()?).await.unwrap_err(),
        store()?.token_store(&name)?.exists(&"token".parse()?).await.unwrap_err(),
        store()?.entity_ledger(&name, &Joins::default())?.pending(None, 1).await.unwrap_err(),
        store()?.counter(&name, Strategy::default())?.value(&key).await.unwrap_err(),
        store()?.ordered_store(&name, OrderedOptions::time())?.get(&key).await.unwrap_err(),
    ])
}

/// The user loses the rights to some or all keys while the program runs.
#[test]
fn calls_with_rights_to_some_keys_are_denied_and_lose_nothing() -> Result<()> {
    with_place(async |place| {
        let user = User::of(place, &place.prefix).await?;
        let (store, prefix) = (user.store(&place.prefix)?, &place.prefix);
        store.setup().await?;
        let bank = store.item_bank(&"namespace".parse()?)?;
        bank.add(&[Item::new("one")?, Item::new("two")?]).await?;
        assert!(bank.take(&"bob".parse()?, Hold::Forever).await?.item().is_some());
        let head = format!("{prefix}:{{b.namespace.0}}");
        for rules in [
            format!("resetkeys %R~{prefix}:{{*"),
            format!("resetkeys %R~{prefix}:{{* ~{head}"),
            "resetkeys".to_owned(),
            format!("-hset (+hset ~{prefix}:elsewhere*)"),
            format!("-rpush -lpush (+rpush +lpush ~{head})"),
        ] {
            user.set(&rules).await?;
            for error in [
                bank.take(&"ada".parse()?, Hold::Forever).await.unwrap_err(),
                bank.release(&"bob".parse()?).await.unwrap_err(),
            ] {
                let (kind, certainty) = (error.kind(), error.certainty());
                assert_eq!((kind, certainty), (ErrorKind::Denied, Certainty::NotApplied), "{rules}: {error}");
            }
            user.set(&grants(prefix)).await?;
            assert_eq!(bank.counts().await?.free, 1, "{rules}");
        }
        assert!(bank.take(&"ada".parse()?, Hold::Forever).await?.item().is_some());
        user.remove().await
    })
}

/// The server lacks one command that the library uses.
#[test]
fn a_missing_server_command_is_unsupported_before_any_write() -> Result<()> {
    for command in COMMANDS.lines().filter_map(|line| line.split(' ').next()).chain(["evalsha"]) {
        let settings = Settings::quick().with("rename-command", format!("{command} \"\""));
        with_server(settings, async |_| Ok(())).map_or_else(
            |error| {
                let (kind, certainty) = (error.kind(), error.certainty());
                assert_eq!((kind, certainty), (ErrorKind::Unsupported, Certainty::NotApplied), "{command}: {error}");
                Ok(())
            },
            |()| Err(failed(format!("a store without {command}"))),
        )?;
    }
    Ok(())
}
