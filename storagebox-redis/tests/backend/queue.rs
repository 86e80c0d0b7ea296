//! The queue of free items, with withdrawn ones among them.

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use storagebox_core::{Backend, ClaimId, Counts, Hold, Item, ItemBank, Released, Result, Taken};

use crate::scene::with_place;
use crate::support::Place;

const STEPS: usize = 1_500;
const ITEMS: usize = 12;

/// The state that the bank must have after each step.
#[derive(Default)]
struct Model {
    free: BTreeSet<Item>,
    withdrawn: BTreeSet<Item>,
    held: BTreeMap<ClaimId, Item>,
}

impl Model {
    async fn step(&mut self, bank: &dyn ItemBank, items: &[Item], number: usize, random: &mut Rng) -> Result<()> {
        match random.u32(..10) {
            0..4 => self.take(bank, &ClaimId::new(format!("claim-{number}"))?).await,
            4..6 => self.release(bank, random).await,
            6..8 => self.withdraw(bank, &some(items, random)).await,
            _ => self.restore(bank, &some(items, random)).await,
        }
    }

    async fn take(&mut self, bank: &dyn ItemBank, claim: &ClaimId) -> Result<()> {
        match bank.take(claim, Hold::Forever).await? {
            Taken::New(held) => {
                assert!(self.free.remove(&held.item), "{:?} was not free", held.item);
                self.held.insert(claim.clone(), held.item);
            }
            Taken::Empty => assert!(self.free.is_empty(), "{:?} are free", self.free),
            other => panic!("{claim:?} was told {other:?}"),
        }
        Ok(())
    }

    async fn release(&mut self, bank: &dyn ItemBank, random: &mut Rng) -> Result<()> {
        let Some(claim) = random.choice(self.held.keys()).cloned() else { return Ok(()) };
        assert_eq!(bank.release(&claim).await?, Released::Released);
        self.free.extend(self.held.remove(&claim));
        Ok(())
    }

    async fn withdraw(&mut self, bank: &dyn ItemBank, items: &[Item]) -> Result<()> {
        let those: Vec<_> = items.iter().filter(|item| self.free.remove(*item)).cloned().collect();
        assert_eq!(bank.withdraw(items).await?.withdrawn, those.len() as u64);
        self.withdrawn.extend(those);
        Ok(())
    }

    async fn restore(&mut self, bank: &dyn ItemBank, items: &[Item]) -> Result<()> {
        let those: Vec<_> = items.iter().filter(|item| self.withdrawn.remove(*item)).cloned().collect();
        assert_eq!(bank.restore(items).await?.restored, those.len() as u64);
        self.free.extend(those);
        Ok(())
    }

    /// Checks the counts and the queue: the free items, and the withdrawn items that no take has skipped yet.
    async fn check(&self, place: &Place, bank: &dyn ItemBank) -> Result<()> {
        let key = place.key("b.namespace.0");
        let mut ask = redis::pipe();
        ask.cmd("HGET").arg(&key).arg("q").cmd("LLEN").arg(format!("{key}:f:0"));
        let (counts, (queued, length)) =
            tokio::try_join!(bank.counts(), place.server.ask_all::<(Option<usize>, usize)>(&ask))?;
        let expected = [self.free.len(), self.held.len(), self.withdrawn.len()];
        assert_eq!([counts.free, counts.held, counts.withdrawn], expected.map(|count| count as u64));
        assert_eq!(length, self.free.len() + queued.unwrap_or(0));
        Ok(())
    }
}

fn some(items: &[Item], random: &mut Rng) -> Vec<Item> {
    items.iter().filter(|_| random.u32(..4) == 0).cloned().collect()
}

#[test]
fn random_withdrawals_keep_the_queue_and_the_counts_correct() -> Result<()> {
    with_place(async |place| {
        let (bank, seed) = (place.store()?.item_bank(&"namespace".parse()?)?, Rng::new().u64(..));
        println!("seed {seed}");
        let mut random = Rng::with_seed(seed);
        let items = (0..ITEMS).map(|number| Item::new(format!("{number}"))).collect::<Result<Vec<_>>>()?;
        bank.add(&items).await?;
        let mut model = Model { free: items.iter().cloned().collect(), ..Model::default() };
        for number in 0..STEPS {
            model.step(&*bank, &items, number, &mut random).await?;
            model.check(place, &*bank).await?;
        }
        Ok(())
    })
}

/// One script skips at most a thousand items, so the take runs several scripts.
#[test]
fn a_take_skips_any_number_of_withdrawn_items() -> Result<()> {
    with_place(async |place| {
        let bank = place.store()?.item_bank(&"namespace".parse()?)?;
        let items = (0..2_101).map(|number| Item::new(format!("{number}"))).collect::<Result<Vec<_>>>()?;
        bank.add(&items).await?;
        let (last, others) = (&items[2_100], &items[..2_100]);
        assert_eq!(bank.withdraw(others).await?.withdrawn, 2_100);
        let taken = bank.take(&ClaimId::new("ada")?, Hold::Forever).await?;
        assert!(matches!(&taken, Taken::New(held) if held.item == *last), "{taken:?}");
        assert_eq!(bank.take(&ClaimId::new("bob")?, Hold::Forever).await?, Taken::Empty);
        assert_eq!(bank.counts().await?, Counts { held: 1, withdrawn: 2_100, ..Counts::default() });
        Ok(())
    })
}
