//! The damage that can be done to a key.

use std::fmt;

use redis::aio::MultiplexedConnection as Admin;
use redis::{Cmd, cmd, pipe};
use storagebox_core::Result;

use crate::support::{Place, failed};

#[derive(Clone, Debug)]
pub(super) struct Damage {
    pub(super) key: String,
    what: String,
    acts: Vec<Cmd>,
}

/// Values that no script writes, each after its description.
const FOREIGN: [(&str, &str); 2] = [("empty", ""), ("an unknown mark", "\0?0000000000000001")];

impl Damage {
    pub(super) async fn all(place: &Place, base: &str) -> Result<Vec<Self>> {
        let mut all = vec![];
        let mut keys: Vec<String> = place.server.ask(cmd("KEYS").arg(format!("{base}*"))).await?;
        keys.sort_unstable();
        for key in &keys {
            let kind: String = place.server.ask(cmd("TYPE").arg(key)).await?;
            all.push(another_type(key, &kind));
            all.extend(match kind.as_str() {
                "hash" => fields(place, key).await?,
                "list" => entries(place, key).await?,
                "zset" => members(place, key).await?,
                _ => vec![],
            });
        }
        Ok(all)
    }

    fn to(key: &str, what: impl Into<String>, acts: impl Into<Vec<Cmd>>) -> Self {
        Self { key: key.to_owned(), what: what.into(), acts: acts.into() }
    }

    /// Returns the kind of key (the key without the names of the namespace and the id), and what is done to the key.
    pub(super) fn kind(&self, base: &str) -> (String, String) {
        let rest = self.key.strip_prefix(base).unwrap_or(&self.key);
        let kind = rest.split(':').take(2).collect::<Vec<_>>().join(":");
        (kind, self.what.clone())
    }

    pub(super) async fn inflict(&self, admin: &mut Admin) -> Result<()> {
        let mut acts = pipe();
        for act in &self.acts {
            acts.add_command(act.clone()).ignore();
        }
        acts.exec_async(admin).await.map_err(failed)
    }
}

fn another_type(key: &str, kind: &str) -> Damage {
    let make = match kind {
        "string" => command(&["RPUSH", key, "garbage"]),
        _ => command(&["SET", key, "garbage"]),
    };
    Damage::to(key, "another type", [Cmd::del(key), make])
}

/// Returns the damage to a hash: each field removed, set to a foreign value, or cut to its first half.
async fn fields(place: &Place, key: &str) -> Result<Vec<Damage>> {
    let found: Vec<(String, Vec<u8>)> = place.server.ask(cmd("HGETALL").arg(key)).await?;
    // Only the opening of a namespace looks at its options.
    let damaged = found.into_iter().filter(|(field, _)| field != "options").flat_map(|(field, value)| {
        // The library's field names are in lower case, the ids of these tests are not.
        let is_ours = field.bytes().all(|byte| byte.is_ascii_lowercase());
        let name = if is_ours { field.clone() } else { "field".to_owned() };
        let set = |what: &str, value: &[u8]| {
            Damage::to(key, format!("{name}: {what}"), [cmd("HSET").arg(key).arg(&field).arg(value).clone()])
        };
        let foreign = FOREIGN.iter().map(|(what, value)| set(what, value.as_bytes()));
        let mut all: Vec<_> = foreign.collect();
        all.push(set("half", &value[..value.len() / 2]));
        all.push(Damage::to(key, format!("{name}: none"), [command(&["HDEL", key, &field])]));
        all
    });
    Ok(damaged.collect())
}

/// Returns the damage to a list: its first entry set to a foreign value or cut to its first half.
async fn entries(place: &Place, key: &str) -> Result<Vec<Damage>> {
    let first: Vec<u8> = place.server.ask(cmd("LINDEX").arg(key).arg(0)).await?;
    let set = |what: &str, value: &[u8]| {
        Damage::to(key, format!("first: {what}"), [cmd("LSET").arg(key).arg(0).arg(value).clone()])
    };
    let mut all: Vec<_> = FOREIGN.iter().map(|(what, value)| set(what, value.as_bytes())).collect();
    all.push(set("half", &first[..first.len() / 2]));
    Ok(all)
}

/// Returns the damage to a sorted set: its first member removed, or replaced by an unknown member.
async fn members(place: &Place, key: &str) -> Result<Vec<Damage>> {
    let first: Vec<(String, f64)> = place.server.ask(cmd("ZRANGE").arg(key).arg(0).arg(0).arg("WITHSCORES")).await?;
    let (member, score) = &first[0];
    let other = command(&["ZADD", key, &score.to_string(), "Nobody"]);
    let remove = command(&["ZREM", key, member]);
    Ok(vec![Damage::to(key, "another member", [remove.clone(), other]), Damage::to(key, "no first member", [remove])])
}

fn command(words: &[&str]) -> Cmd {
    let mut command = Cmd::new();
    for word in words {
        command.arg(*word);
    }
    command
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.key, self.what)
    }
}
