//! The state of a pipeline, according to the events, the external services and the store.

use std::fmt;
use std::time::Duration;

use futures_util::future::try_join_all;
use indicatif::ProgressBar;

use crate::events::{Event, Events};
use crate::failure::Failure;
use crate::pipeline::Pipeline;
use crate::services::{BANK, Books, CARRIER};
use crate::stage::{ENTITIES, Stage, State};

/// The maximum number of unfinished messages that are counted per stage.
const MAX_UNFINISHED: usize = 1_000;

/// The pause between two prints of the view, if there is no terminal.
const PRINT_INTERVAL: Duration = Duration::from_secs(5);

/// A view of a running pipeline, whose parts may be from different moments.
#[derive(Clone, Debug, Default)]
pub(crate) struct View {
    pub(crate) events: Events,
    pub(crate) placed: u32,
    pub(crate) bank: Books,
    pub(crate) carrier: Books,
    /// The sum of the states of all entities of each stage.
    pub(crate) states: [State; Stage::ALL.len()],
    /// For each stage, the number of messages that have changed an entity but are not finished.
    pub(crate) unfinished: [usize; Stage::ALL.len()],
}

impl View {
    pub(crate) async fn read(pipeline: &Pipeline) -> Result<Self, Failure> {
        let events = Events::read(&pipeline.settings)?;
        let placed = events.count(Event::OrderPlaced);
        let bank = pipeline.services.books(BANK, placed).await?;
        let carrier = pipeline.services.books(CARRIER, placed).await?;
        let mut view = Self { events, placed, bank, carrier, ..Self::default() };
        for stage in Stage::ALL {
            let processor = pipeline.processor(stage)?;
            let states = try_join_all((0..ENTITIES).map(|entity| processor.state(Stage::key(entity)))).await?;
            let sum = &mut view.states[stage as usize];
            for state in states {
                let State { stock, orders } = State::read(state)?;
                *sum = State { stock: sum.stock + stock, orders: sum.orders + orders };
            }
            view.unfinished[stage as usize] = processor.pending().page(None, MAX_UNFINISHED).await?.entries.len();
        }
        Ok(view)
    }

    /// Returns the coins of all accounts, or the pieces on all shelves.
    pub(crate) fn stock(&self, stage: Stage) -> u32 {
        self.states[stage as usize].stock
    }

    pub(crate) fn unfinished(&self) -> usize {
        self.unfinished.iter().sum()
    }

    /// Returns the number of messages, parked messages included, that have not yet changed an entity of a stage.
    fn in_flight(&self, stage: Stage) -> u32 {
        let [accepted, paid, shipped] = self.states.map(|state| state.orders);
        match stage {
            Stage::Orders => self.placed.saturating_sub(accepted),
            Stage::Payments => accepted.saturating_sub(paid),
            Stage::Shipping => paid.saturating_sub(shipped),
        }
    }

    /// Returns whether each order has reached the carrier and, with deduplication, all messages are finished.
    pub(crate) fn is_over(&self, dedup: bool) -> bool {
        // Without deduplication, a copy that is processed again adds an entry. The entry stays if the copy's worker is
        // killed and a late acknowledgement of the first copy ends the message.
        self.carrier.orders >= self.placed && (self.unfinished() == 0 || !dedup)
    }

    /// Redraws the view on a terminal. Without a terminal, prints the view from time to time.
    pub(crate) fn show(&self, screen: &ProgressBar) {
        let interval = screen.elapsed().as_secs() / PRINT_INTERVAL.as_secs();
        if !screen.is_hidden() {
            screen.set_message(format!("what is in flight:\n{self}"));
        } else if screen.position() < interval {
            screen.set_position(interval);
            println!("{self}");
        }
    }
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for stage in Stage::ALL {
            let (in_flight, unfinished) = (self.in_flight(stage), self.unfinished[stage as usize]);
            let State { orders, stock } = self.states[stage as usize];
            let copies = [Event::Parked, Event::Resumed, Event::Duplicate].map(|event| self.events.count(event(stage)));
            let [parked, resumed, duplicates] = copies;
            writeln!(
                f,
                "{:<8} {in_flight:>4} in flight {unfinished:>4} unfinished {parked:>4} parked {orders:>5} done \
                 {resumed:>5} resumed {duplicates:>5} duplicates {stock:>9} in stock",
                stage.name()
            )?;
        }
        let Self { events, placed, bank, carrier, .. } = self;
        let (workers, brokers) = (events.count(Event::WorkerKilled), events.count(Event::BrokerKilled));
        let (payments, parcels) = (bank.served, carrier.served);
        let (requests, refused) = (bank.requests + carrier.requests, bank.refused + carrier.refused);
        write!(
            f,
            "{placed} orders, {payments} payments, {parcels} parcels; {} coins at the bank; {refused} of {requests} \
             requests refused by the bank and the carrier; killed: {workers} workers, the broker {brokers} times",
            bank.coins
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_in_flight_is_shown_at_its_stage() {
        let states = [7, 4, 3].map(|orders| State { stock: 0, orders });
        let events = Events("Duplicate(Payments)\nProcessed(Payments)\nParked(Shipping)\nWorkerKilled\n".to_owned());
        let view = View { events, placed: 9, states, unfinished: [0, 1, 0], ..View::default() };
        let text = view.to_string();
        let numbers = |line: &str| line.split_whitespace().filter_map(|word| word.parse().ok()).collect::<Vec<u32>>();
        let rows: Vec<_> = text.lines().map(numbers).collect();
        assert_eq!(rows[..3], [[2, 0, 0, 7, 0, 0, 0], [3, 1, 0, 4, 0, 1, 0], [1, 0, 1, 3, 0, 0, 0]]);
        assert!(text.contains("killed: 1 workers, the broker 0 times"), "{text}");
        assert_eq!((view.events.messages(), view.events.kills()), (3, 1));
    }

    #[test]
    fn unfinished_messages_delay_the_end_only_with_deduplication() {
        let carrier = Books { orders: 9, ..Books::default() };
        let mut view = View { placed: 9, carrier, unfinished: [0, 0, 1], ..View::default() };
        assert!(!view.is_over(true) && view.is_over(false));
        view.placed = 10;
        assert!(!view.is_over(false));
    }
}
