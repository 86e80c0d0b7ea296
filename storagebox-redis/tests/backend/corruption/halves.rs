//! Steps that an older version of the library left half done, because it did not check its rights first. For each call
//! of each part, the tests make the first writes of the call without the rest. Upkeep repairs the data. Then the call
//! is repeated, and the data is the same as after one complete call.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::time::Duration;

use redis::{Cmd, cmd};
use storagebox_conformance::listed;
use storagebox_core::{
    Backend, DedupRepo as _, EntityLedger as _, Hold, Item, ItemBank as _, ItemState, Joins, ListedItem,
    OrderedOptions, OrderedStore as _, Result,
};
use storagebox_redis::{Moved, RedisStore};
use storagebox_testkit::redis::Settings;

use super::watched::{Watch, words};
use super::{NAMESPACE, Part, Scene, bank, entities, ordered, records};
use crate::scene::{in_server, with_server};
use crate::support::failed;

const WRITES: [&str; 13] =
    ["del", "hdel", "hincrby", "hset", "hsetnx", "lpop", "lpush", "rpush", "sadd", "setbit", "zadd", "zrem", "append"];

/// A duration longer than every limited retention.
const LATER: Duration = Duration::from_secs(100 * 24 * 3_600);

/// A call that was stopped after its first writes.
struct Half {
    call: usize,
    /// The name of the call, the writes that were made, and the writes that are missing.
    what: String,
    done: Vec<Cmd>,
}

fn name(command: &Cmd) -> String {
    words(command)[0].to_lowercase()
}

/// Returns the command, and the kind of key that it writes.
fn shape(command: &Cmd, tag: &str) -> String {
    let words = words(command);
    let rest = words[1].split_once(&format!("{{{tag}}}")).map_or(words[1].as_str(), |(_, rest)| rest);
    format!("{} {}", name(command), rest.split(':').nth(1).unwrap_or("-"))
}

impl Half {
    /// Returns half-done variants of a call, each stopped before the first use of another command.
    fn of(call: usize, said: &str, writes: &[Cmd], tag: &str) -> Vec<Self> {
        let of_one_right = |number: &usize| !writes[..*number].iter().any(|done| name(done) == name(&writes[*number]));
        let half = |number: usize| {
            let done: Vec<_> = writes[..number].iter().map(|one| shape(one, tag)).collect();
            let verb = said.split(' ').next().unwrap_or_default();
            let rest: Vec<_> = writes[number..].iter().map(|one| shape(one, tag)).collect();
            let what = format!("{verb}: {}; not {}", done.join(", "), rest.join(", "));
            Self { call, what, done: writes[..number].to_vec() }
        };
        (1..writes.len()).filter(of_one_right).map(half).collect()
    }
}

impl Scene<'_> {
    /// Returns one half-done call of each kind, and what users see after each complete call.
    async fn halves(&mut self, part: &Part, see: See, of: &str) -> Result<(Vec<Half>, Vec<Vec<String>>)> {
        let (mut watch, mut halves, mut seen, mut kinds) =
            (Watch::of(self.place).await?, vec![], vec![], BTreeSet::new());
        let store = self.place.store()?;
        for (number, call) in self.calls.iter().enumerate() {
            watch.commands().await?;
            call.make().await?;
            let mut writes = watch.commands().await?;
            writes.retain(|command| WRITES.contains(&name(command).as_str()));
            seen.push(see(&store).await?);
            self.whole.put_back(&mut self.admin).await?;
            halves.extend(Half::of(number, &call.name, &writes, part.tag));
        }
        let is_asked = |half: &Half| half.what.starts_with(of);
        halves.retain(|half: &Half| is_asked(half) && kinds.insert(half.what.clone()));
        Ok((halves, seen))
    }

    /// Makes the first writes of the call, runs upkeep, makes the whole call, and checks the data.
    async fn mends(&mut self, half: &Half, part: &Part, see: See, seen: &[String]) -> Result<Result<()>> {
        let mut left = redis::pipe();
        for write in &half.done {
            left.add_command(write.clone()).ignore();
        }
        left.add_command(cmd("HDEL").arg(self.place.key(part.tag)).arg("sound").clone()).ignore();
        left.exec_async(&mut self.admin).await.map_err(failed)?;
        let outcome = self.goes_on(half.call, see, seen).await;
        self.whole.put_back(&mut self.admin).await?;
        Ok(outcome)
    }

    async fn goes_on(&mut self, number: usize, see: See, seen: &[String]) -> Result<()> {
        let store = self.place.store()?;
        while store.maintain(1_000).await?.more {}
        see(&store).await?;
        self.calls[number].make().await?;
        let now = see(&store).await?;
        if now != seen {
            return Err(failed(format!("{now:?} instead of {seen:?}")));
        }
        for call in &self.calls {
            call.make().await.map_err(|error| failed(format!("then {}: {error}", call.name)))?;
        }
        let moved = Moved::default();
        moved.advance(LATER + Duration::from_micros(self.place.moved.micros().unsigned_abs()));
        let later = self.place.builder()?.moved(moved).connect(&self.place.server.url())?;
        while later.maintain(1_000).await?.more {}
        see(&later).await.map(drop)
    }
}

/// A function that returns what users see of a namespace, or an error if the data contradicts itself.
type See = for<'a> fn(&'a RedisStore) -> Seeing<'a>;

type Seeing<'a> = Pin<Box<dyn Future<Output = Result<Vec<String>>> + Send + 'a>>;

/// Checks that upkeep repairs each half-done call whose name begins with `of`, except the calls in `beyond`.
async fn mends_each_half(part: &Part, of: &str, see: See, beyond: &[&str]) -> Result<()> {
    in_server(Settings::quick().with("rdbcompression", "no"), async |place| {
        let mut scene = Scene::of(place, part).await?;
        let (halves, seen) = scene.halves(part, see, of).await?;
        assert!(halves.len() > 3, "{} halves", halves.len());
        let mut left = BTreeSet::new();
        for half in &halves {
            let outcome = scene.mends(half, part, see, &seen[half.call]).await?;
            let Err(error) = outcome else { continue };
            match beyond.iter().find(|known| half.what.starts_with(**known)) {
                Some(known) => drop(left.insert(*known)),
                None => scene.faults.push(format!("{}: {error}", half.what)),
            }
        }
        assert!(scene.faults.is_empty(), "{} of {} halves: {:#?}", scene.faults.len(), halves.len(), scene.faults);
        assert_eq!(left, beyond.iter().copied().collect(), "what is beyond mending");
        Ok(())
    })
    .await
}

/// Returns the counts of the bank, and checks that they agree with the list of its items.
fn of_bank(store: &RedisStore) -> Seeing<'_> {
    Box::pin(async move {
        let name = NAMESPACE.parse()?;
        let bank = store.item_bank(&name)?;
        let (counts, all) = (bank.counts().await?, listed(store, &name).await?);
        let mut tally = [0_u64; 4];
        for one in &all {
            let at = match &one.state {
                ItemState::Free => 0,
                ItemState::Held(_) => 1,
                ItemState::Spent(_) => 2,
                _ => 3,
            };
            tally[at] += 1;
        }
        let counted = [counts.free, counts.held, counts.spent, counts.withdrawn];
        if counted != tally {
            return Err(failed(format!("{counted:?} are counted, and {tally:?} listed")));
        }
        Ok(vec![format!("{counted:?}")])
    })
}

/// Returns the counts of the bank. Checks that exactly the free items can be taken, each once.
fn of_bank_to_the_end(store: &RedisStore) -> Seeing<'_> {
    Box::pin(async move {
        let (seen, name) = (of_bank(store).await?, NAMESPACE.parse()?);
        let bank = store.item_bank(&name)?;
        let is_free = |one: &ListedItem| one.state == ItemState::Free;
        let free = listed(store, &name).await?.into_iter().filter(is_free);
        let mut free: BTreeSet<_> = free.map(|one| format!("{:?}", one.item.as_str())).collect();
        let mut takers = vec![];
        loop {
            let taker = format!("TAKER-{}", takers.len()).parse()?;
            let taken = bank.take(&taker, Hold::Forever).await?;
            let Some(item) = taken.item() else { break };
            if !free.remove(&format!("{:?}", item.as_str())) {
                return Err(failed(format!("{item:?} was not free, or was given twice")));
            }
            takers.push(taker);
        }
        if !free.is_empty() {
            return Err(failed(format!("{free:?} are free, and nobody can take them")));
        }
        for taker in takers {
            let _ = bank.release(&taker).await?;
            let _ = bank.retire(&taker).await?;
        }
        Ok(seen)
    })
}

fn of_records(store: &RedisStore) -> Seeing<'_> {
    Box::pin(async move {
        let listed = store.dedup_repo(&NAMESPACE.parse()?)?.list(None, 1_000).await?.entries;
        Ok(listed.into_iter().map(|one| format!("{:?} {:?}", one.id, one.entry.value.as_bytes())).collect())
    })
}

fn of_entities(store: &RedisStore) -> Seeing<'_> {
    Box::pin(async move {
        let entities = store.entity_ledger(&NAMESPACE.parse()?, &Joins::default())?;
        let pending = entities.pending(None, 1_000).await?.entries;
        Ok(pending.into_iter().map(|one| format!("{one:?}")).collect())
    })
}

fn of_ordered(store: &RedisStore) -> Seeing<'_> {
    Box::pin(async move {
        let values = store.ordered_store(&NAMESPACE.parse()?, OrderedOptions::sequence())?;
        let listed = values.list(None, None, 1_000).await?.entries;
        Ok(listed.into_iter().map(|one| format!("{:?} {:?}", one.key, one.versioned.value.as_bytes())).collect())
    })
}

#[tokio::test]
async fn a_half_done_bank_call_is_repaired() -> Result<()> {
    mends_each_half(&bank::PART, "", of_bank_to_the_end, &[]).await
}

#[tokio::test]
async fn a_half_done_take_from_an_empty_bank_is_repaired() -> Result<()> {
    mends_each_half(&bank::EMPTY, "take", of_bank_to_the_end, &[]).await
}

/// Half-done calls that upkeep cannot repair, because they lose the fence of an expired record.
const UNFENCED: [&str; 2] = ["record: del r; not zrem x", "record: del r, zrem x, zrem d; not hset e"];

#[tokio::test]
async fn a_half_done_record_call_is_repaired() -> Result<()> {
    mends_each_half(&records::PART, "", of_records, &UNFENCED).await
}

/// A half-done call that leaves an entry unlisted, which upkeep cannot repair. A repeated commit lists the entry,
/// unless its entity was forgotten before.
const UNLISTED: [&str; 1] = ["commit: hincrby -, hset s, hset m; not zadd x, hdel s"];

#[tokio::test]
async fn a_half_done_entity_call_is_repaired() -> Result<()> {
    mends_each_half(&entities::PART, "", of_entities, &UNLISTED).await
}

#[tokio::test]
async fn a_half_done_ordered_value_call_is_repaired() -> Result<()> {
    mends_each_half(&ordered::PART, "", of_ordered, &[]).await
}

/// One upkeep repairs wrong counts, unlisted items and gaps in the queue.
#[test]
fn the_damage_of_many_half_done_calls_is_repaired() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let store = place.store()?;
        let bank = store.item_bank(&NAMESPACE.parse()?)?;
        let items = (0..3_000).map(|number| Item::new(format!("{number:04}"))).collect::<Result<Vec<_>>>()?;
        bank.add(&items).await?;
        let base = place.key(bank::PART.tag);
        let mut left = redis::pipe();
        left.cmd("LPOP").arg(format!("{base}:f:0")).arg(3).ignore();
        left.cmd("LMOVE").arg(format!("{base}:f:1")).arg(format!("{base}:f:0")).arg("LEFT").arg("RIGHT").ignore();
        left.cmd("HINCRBY").arg(&base).arg("n").arg(-5).ignore();
        left.cmd("HSET").arg(&base).arg("q").arg(2).arg("s").arg(7).ignore();
        left.cmd("DEL").arg(format!("{base}:m")).ignore();
        left.cmd("HDEL").arg(&base).arg("sound").ignore();
        left.exec_async(&mut place.server.node(0).await?).await.map_err(failed)?;
        let given = bank.take(&"ada".parse()?, Hold::Forever).await?;
        assert!(given.item().is_some());
        store.maintain(10).await?;
        let counts = bank.counts().await?;
        assert_eq!((counts.free, counts.held, counts.total()), (2_999, 1, 3_000));
        assert_eq!(of_bank_to_the_end(&store).await?, [format!("{:?}", [2_999, 1, 0, 0])]);
        Ok(())
    })
}

/// The next client completes a namespace or a store whose creation stopped after the first write.
#[test]
fn a_half_done_creation_is_completed() -> Result<()> {
    with_server(Settings::quick(), async |place| {
        let set = |tag: &str, field: &str, value: &str| cmd("HSET").arg(place.key(tag)).arg(field).arg(value).clone();
        place.server.ask::<()>(&set("o.namespace.0", "options", "whatever")).await?;
        of_ordered(&place.store()?).await?;
        let elsewhere = format!("{}:elsewhere", place.prefix);
        place.server.ask::<()>(cmd("HSET").arg(format!("{elsewhere}:{{store}}")).arg("version").arg(1)).await?;
        let store = place.builder()?.prefix(&elsewhere)?.connect(&place.server.url())?;
        store.setup().await?;
        store.ping().await
    })
}
