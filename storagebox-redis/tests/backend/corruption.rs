//! Keys that another program changed: of another type, or with fields that no script of this library writes.
//!
//! The tests damage every key of every part in every way of [`damage`], and make every call of the part. A call either
//! does its work, because it does not need the damaged data, or returns `Corrupt` at once and changes nothing. The
//! tests leave out calls that do not read the key while it is sound. Such a call cannot reach the damage: its script
//! does the same every time, up to the first damaged key.

mod bank;
mod counters;
mod damage;
mod entities;
mod epoch;
mod halves;
mod moving;
mod noted;
mod ordered;
mod records;
mod rights;
mod state;
mod store;
mod tokens;
mod watched;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use redis::aio::MultiplexedConnection;
use storagebox_conformance::Proxy;
use storagebox_core::{Backend, Certainty, ErrorKind, Result};
use storagebox_redis::RedisStore;
use storagebox_testkit::checks::corruption::{Call, Filling, Unnoticed, call, kinds};
use storagebox_testkit::redis::Settings;
use tokio::task::JoinSet;

use crate::scene::in_server;
use crate::support::{Place, failed};
use damage::Damage;
use noted::Noted;
use watched::{Watch, words};

/// A part of the store, and how the tests fill and call a namespace of this part.
struct Part {
    /// The tag of the namespace: the text between the braces of the keys.
    tag: &'static str,
    fill: for<'a> fn(&'a Place, &'a RedisStore, &'a str) -> Filling<'a>,
    calls: fn(&dyn Backend, &str) -> Result<Vec<Call>>,
    /// Damage that no call notices, because the damaged data equals data that the library writes, or because only the
    /// opening of a namespace reads the field.
    unnoticed: Unnoticed,
}

impl Part {
    /// Returns every call of the part, and upkeep.
    fn every_call(&self, store: &RedisStore, name: &str) -> Result<Vec<Call>> {
        let mut calls = vec![call!(UPKEEP, [store], store.maintain(1_000))];
        calls.extend((self.calls)(store, name)?);
        Ok(calls)
    }
}

const NAMESPACE: &str = "namespace";
const NEIGHBOUR: &str = "neighbour";
/// The name of the upkeep call, which visits all namespaces.
const UPKEEP: &str = "maintain";

/// A kind of damage: the kind of key, and what is done to the key.
type Kind = (String, String);

/// The kinds of damage to a part, shared by several `Scene` values.
#[derive(Default)]
struct Damaging(Mutex<Damaged>);

#[derive(Default)]
struct Damaged {
    tried: BTreeSet<Kind>,
    left: BTreeSet<Kind>,
    noticed: BTreeSet<Kind>,
    faults: Vec<String>,
}

/// A store with a damaged and an undamaged namespace of one kind, and every call of both namespaces.
struct Scene<'a> {
    place: &'a Place,
    admin: MultiplexedConnection,
    proxy: Proxy,
    calls: Vec<Call>,
    /// For each call, the keys that it reads while nothing is damaged.
    asked: Vec<BTreeSet<String>>,
    neighbours: Vec<Call>,
    whole: Noted,
    faults: Vec<String>,
}

async fn stands_damage(part: &Part) -> Result<()> {
    let all = Damaging::default();
    tokio::try_join!(all.share(part), all.share(part), all.share(part), all.share(part))?;
    let Damaged { tried, noticed, faults, .. } = &*all.lock();
    assert!(faults.is_empty(), "{} faults: {faults:#?}", faults.len());
    let unnoticed: BTreeSet<_> = tried.difference(noticed).cloned().collect();
    assert_eq!(unnoticed, kinds(part.unnoticed), "damage that no call noticed");
    Ok(())
}

impl Damaging {
    async fn share(&self, part: &Part) -> Result<()> {
        // Each scene has its own server, because another test could make a shared server forget its scripts, which
        // would be one more round trip. Its dumps need not be compressed.
        in_server(Settings::quick().with("rdbcompression", "no"), async |place| {
            let (mut scene, base) = (Scene::of(place, part).await?, place.key(part.tag));
            let mut all = BTreeMap::<Kind, Vec<Damage>>::new();
            for damage in Damage::all(place, &base).await? {
                all.entry(damage.kind(&base)).or_default().push(damage);
            }
            self.begin(all.keys().cloned().collect());
            while let Some(kind) = self.next() {
                for damage in &all[&kind] {
                    if scene.stands(damage).await? {
                        self.lock().noticed.insert(kind.clone());
                    }
                }
                // The calls of the second namespace do not read the keys of the damaged one: one check per kind is
                // enough.
                scene.spares_the_neighbours(&all[&kind][0]).await?;
            }
            self.lock().faults.append(&mut scene.faults);
            Ok(())
        })
        .await
    }

    /// Records the kinds of damage that a `Scene` can do, which must be the same for every `Scene`.
    fn begin(&self, kinds: BTreeSet<Kind>) {
        // Each scene does only some of the kinds, and leaves the rest to the others.
        let mut all = self.lock();
        if all.tried.is_empty() {
            (all.tried, all.left) = (kinds.clone(), kinds);
        } else {
            assert_eq!(all.tried, kinds, "what can be done to the namespaces of two scenes");
        }
    }

    fn next(&self) -> Option<Kind> {
        self.lock().left.pop_first()
    }

    fn lock(&self) -> MutexGuard<'_, Damaged> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'a> Scene<'a> {
    async fn of(place: &'a Place, part: &Part) -> Result<Self> {
        let proxy = Proxy::start(place.server.address()).await.map_err(failed)?;
        let store = place.builder()?.connect(&place.server.url_at(proxy.addr()))?;
        (part.fill)(place, &store, NAMESPACE).await?;
        (part.fill)(place, &store, NEIGHBOUR).await?;
        let (calls, neighbours) = (part.every_call(&store, NAMESPACE)?, part.every_call(&store, NEIGHBOUR)?);
        let mut admin = place.server.node(0).await?;
        let whole = Noted::now(&mut admin, "whole", &place.prefix).await?;
        let mut scene = Self { place, admin, proxy, calls, asked: vec![], neighbours, whole, faults: vec![] };
        scene.measure().await?;
        scene.asked = scene.watched(|command| words(command).get(1).cloned()).await?;
        Ok(scene)
    }

    /// Makes each call on undamaged data. Returns the results of `of` for the commands of each call.
    async fn watched(&mut self, of: impl Fn(&redis::Cmd) -> Option<String>) -> Result<Vec<BTreeSet<String>>> {
        let (mut watch, mut all) = (Watch::of(self.place).await?, vec![]);
        for call in &self.calls {
            watch.commands().await?;
            call.make().await?;
            all.push(watch.commands().await?.iter().filter_map(&of).collect());
            self.whole.put_back(&mut self.admin).await?;
        }
        Ok(all)
    }

    /// Counts the round trips of each call while nothing is damaged.
    async fn measure(&mut self) -> Result<()> {
        // The second round counts: by then, the server knows all scripts.
        for _ in 0..2 {
            for call in self.calls.iter_mut().chain(&mut self.neighbours) {
                let before = self.proxy.round_trips();
                call.make().await?;
                call.trips = self.proxy.round_trips() - before;
                self.whole.put_back(&mut self.admin).await?;
            }
        }
        Ok(())
    }

    /// Damages a key, and returns whether any call noticed the damage.
    async fn stands(&mut self, damage: &Damage) -> Result<bool> {
        damage.inflict(&mut self.admin).await?;
        let damaged = Noted::now(&mut self.admin, "damaged", &self.place.prefix).await?;
        let mut noticed = false;
        for number in 0..self.calls.len() {
            if self.asked[number].contains(&damage.key) {
                noticed |= self.notices(damage, number, &damaged).await?;
            }
        }
        self.whole.put_back(&mut self.admin).await?;
        Ok(noticed)
    }

    /// Returns whether the call noticed the damage. Records late notice or changed data as a fault.
    async fn notices(&mut self, damage: &Damage, number: usize, damaged: &Noted) -> Result<bool> {
        // Upkeep has many steps, so it may change data before it notices.
        let call = &self.calls[number];
        let before = self.proxy.round_trips();
        let outcome = call.make().await;
        let trips = self.proxy.round_trips() - before;
        let changed = damaged.put_back(&mut self.admin).await?;
        let Err(error) = outcome else { return Ok(false) };
        let is_at_once = error.kind() == ErrorKind::Corrupt && trips <= call.trips;
        let is_without_effect = error.certainty() == Certainty::NotApplied && changed.is_empty();
        if !is_at_once || !(is_without_effect || call.name == UPKEEP) {
            self.faults.push(format!("{damage}: {}: {error:?}, {trips} trips, {changed:?}", call.name));
        }
        Ok(true)
    }

    /// Checks that the calls of the undamaged namespace succeed.
    async fn spares_the_neighbours(&mut self, damage: &Damage) -> Result<()> {
        damage.inflict(&mut self.admin).await?;
        let mut calls = JoinSet::new();
        for call in &self.neighbours {
            let (name, call) = (call.name.clone(), call.make());
            calls.spawn(async move { (name, call.await) });
        }
        for (name, outcome) in calls.join_all().await {
            if let Err(error) = outcome
                && name != UPKEEP
            {
                self.faults.push(format!("{damage}: beside it, {name}: {error}"));
            }
        }
        self.whole.put_back(&mut self.admin).await.map(drop)
    }
}
