//! Kills workers and the broker, at moments that a seed decides.

use std::path::Path;
use std::time::Duration;

use fastrand::Rng;
use tokio::time::sleep;

use crate::broker::Broker;
use crate::crew::Crew;
use crate::failure::Failure;
use crate::tally::Tally;
use crate::wait::Wait;

/// A kill comes up to so many milliseconds after the message that it waited for, so that it hits any step.
const LATER: u64 = 30;

/// Who is killed, how often, and when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kills {
    pub(crate) workers: usize,
    pub(crate) brokers: usize,
    pub(crate) seed: u64,
}

impl Kills {
    pub(crate) fn any(self) -> bool {
        self.workers + self.brokers > 0
    }

    /// Kills them, spread over so many messages. It goes on only while the pipeline does.
    pub(crate) async fn carry_out(
        self,
        messages: u64,
        crew: &Crew,
        broker: &Broker,
        tally: &Tally,
        log: &Path,
    ) -> Result<(), Failure> {
        let mut random = Rng::with_seed(self.seed);
        for is_broker in self.order(&mut random) {
            let goal = tally.counts().events() + random.u64(1..=2 * self.gap(messages));
            let mut wait = Wait::for_("the messages before the next kill", log);
            while tally.counts().events() < goal {
                wait.look_again(tally.counts().events()).await?;
            }
            sleep(Duration::from_millis(random.u64(..LATER))).await;
            if is_broker {
                broker.kill().await?;
                tally.broker_killed();
            } else {
                crew.kill(random.usize(..crew.size())).await;
            }
        }
        Ok(())
    }

    /// True for the broker.
    fn order(self, random: &mut Rng) -> Vec<bool> {
        let mut order: Vec<_> = (0..self.workers + self.brokers).map(|place| place < self.brokers).collect();
        random.shuffle(&mut order);
        order
    }

    /// How many messages there are for each kill.
    fn gap(self, messages: u64) -> u64 {
        (messages / (self.workers + self.brokers + 1) as u64).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_decides_the_order() {
        let kills = Kills { workers: 20, brokers: 5, seed: 7 };
        let [one, two] = [kills.order(&mut Rng::with_seed(7)), kills.order(&mut Rng::with_seed(7))];
        assert_eq!((one.len(), one.iter().filter(|is_broker| **is_broker).count()), (25, 5));
        assert_eq!(one, two);
    }
}
