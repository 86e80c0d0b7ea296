//! The tests take each right of the README's list from a running program, and then make every call of every part that
//! uses the right.
//!
//! Such a call is `Denied`, and changes no key. Once the right is restored, every call works.

use std::collections::BTreeSet;

use redis::cmd;
use storagebox_core::{Certainty, ErrorKind, Result};
use storagebox_testkit::redis::Settings;
use tokio::task::JoinSet;

use super::watched::words;
use super::{Part, Scene, UPKEEP, bank, counters, entities, ordered, records, tokens};
use crate::scene::in_server;
use crate::support::Place;

const COMMANDS: &str = include_str!("../../../lua/commands.txt");

async fn set(place: &Place, rule: &str) -> Result<()> {
    place.server.ask(cmd("ACL").arg("SETUSER").arg(place.server.user()).arg(rule)).await
}

impl Scene<'_> {
    /// Makes every call, and returns the commands that each call uses.
    async fn used(&mut self) -> Result<Vec<BTreeSet<String>>> {
        self.watched(|command| words(command).first().map(|name| name.to_lowercase())).await
    }

    /// Checks that calls without the right are denied. Returns whether a call other than upkeep uses the right.
    async fn stands_without(&mut self, right: &str, used: &[BTreeSet<String>]) -> Result<bool> {
        set(self.place, &format!("-{right}")).await?;
        let mut calls = JoinSet::new();
        for (call, its) in self.calls.iter().zip(used) {
            if call.name == UPKEEP || its.contains(right) {
                let (name, making) = (call.name.clone(), call.make());
                calls.spawn(async move { (name, making.await) });
            }
        }
        let is_used = calls.len() > 1;
        for (name, outcome) in calls.join_all().await {
            let is_denied = outcome.as_ref().is_err_and(|error| {
                let certainty = (error.kind(), error.certainty());
                certainty == (ErrorKind::Denied, Certainty::NotApplied) && error.to_string().contains(right)
            });
            if !is_denied {
                self.faults.push(format!("without {right}: {name}: {outcome:?}"));
            }
        }
        set(self.place, &format!("+{right}")).await?;
        let changed = self.whole.put_back(&mut self.admin).await?;
        if !changed.is_empty() {
            self.faults.push(format!("without {right}: {changed:?} changed"));
        }
        Ok(is_used)
    }
}

async fn stands_without_each_right(part: &Part) -> Result<()> {
    in_server(Settings::quick().with("rdbcompression", "no"), async |place| {
        let mut scene = Scene::of(place, part).await?;
        let used = scene.used().await?;
        let mut of_this_part = 0;
        for right in COMMANDS.lines().filter_map(|line| line.split(' ').next()) {
            of_this_part += usize::from(scene.stands_without(right, &used).await?);
        }
        assert_eq!(scene.used().await?, used, "{} with all rights again", part.tag);
        assert!(scene.faults.is_empty(), "{}: {} faults: {:#?}", part.tag, scene.faults.len(), scene.faults);
        assert!(of_this_part > 4, "the calls of {} use {of_this_part} rights", part.tag);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_call_without_a_right_is_denied_and_loses_nothing() -> Result<()> {
    tokio::try_join!(
        stands_without_each_right(&bank::PART),
        stands_without_each_right(&bank::EMPTY),
        stands_without_each_right(&records::PART),
        stands_without_each_right(&tokens::PART),
        stands_without_each_right(&entities::JOINED),
        stands_without_each_right(&counters::PART),
        stands_without_each_right(&ordered::PART),
    )
    .map(drop)
}
