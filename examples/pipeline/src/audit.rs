//! The audit of a run, which checks the requests that the bank and the carrier got, and what is left in the store.

use std::fmt;

use futures_util::{StreamExt, TryStreamExt, stream};

use crate::failure::Failure;
use crate::imbalance::{Check, Imbalance};
use crate::pipeline::Pipeline;
use crate::services::{BANK, Books, CARRIER};
use crate::stage::{STOCK, Stage};
use crate::view::View;

/// The number of tokens that are looked up concurrently.
const CONCURRENCY: usize = 64;

#[derive(Clone, Debug)]
pub(crate) struct Audit {
    pub(crate) view: View,
    /// The number of tokens of all sent messages, no matter whether the tokens still exist.
    tokens: usize,
    tokens_left: usize,
    dedup: bool,
}

impl Audit {
    pub(crate) async fn of(pipeline: &Pipeline) -> Result<Self, Failure> {
        let view = View::read(pipeline).await?;
        let (tokens, recorded) = (pipeline.tokens()?, pipeline.recorded_tokens()?);
        let lookups = stream::iter(&recorded).map(|token| tokens.exists(token)).buffer_unordered(CONCURRENCY);
        let tokens_left = lookups.try_fold(0, async |left, exists| Ok(left + usize::from(exists))).await?;
        Ok(Self { view, tokens: recorded.len(), tokens_left, dedup: pipeline.settings.dedup })
    }

    /// Returns the number of payments and shipments beyond one per order.
    pub(crate) fn repetitions(&self) -> u32 {
        repetitions(&self.view.bank) + repetitions(&self.view.carrier)
    }

    /// Checks that every order was paid once and shipped once, and that no coin and no piece was lost or doubled. With
    /// the deduplication on, also checks that no token and no entry is left.
    pub(crate) fn check(&self) -> Result<(), Imbalance> {
        let View { placed, bank, carrier, .. } = &self.view;
        let services = [(BANK, bank), (CARRIER, carrier)].map(|(place, books)| {
            [
                Check { place, what: "orders", found: books.orders, expected: *placed },
                Check { place, what: "repetitions", found: repetitions(books), expected: 0 },
                Check { place, what: "orders at another price", found: books.mispriced, expected: 0 },
                Check { place, what: "orders that nobody placed", found: books.unknown, expected: 0 },
            ]
        });
        let coins = self.view.stock(Stage::Payments) + bank.coins;
        let pieces = self.view.stock(Stage::Shipping) + carrier.served;
        let goods = [
            Check { place: "accounts and bank", what: "coins", found: coins, expected: STOCK },
            Check { place: "shelves and carrier", what: "pieces", found: pieces, expected: STOCK },
        ];
        let left = [
            Check { place: "outboxes", what: "entries", found: self.view.unfinished() as u32, expected: 0 },
            Check { place: "store", what: "tokens", found: self.tokens_left as u32, expected: 0 },
        ];
        let checks = services.into_iter().flatten().chain(goods).chain(left.into_iter().filter(|_| self.dedup));
        let failed: Vec<_> = checks.filter(|check| check.found != check.expected).collect();
        if failed.is_empty() { Ok(()) } else { Err(Imbalance(failed)) }
    }
}

fn repetitions(books: &Books) -> u32 {
    books.served - books.orders - books.unknown
}

impl fmt::Display for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { view, tokens, tokens_left, .. } = self;
        write!(f, "{view}; left: {} entries, {tokens_left} of {tokens} tokens", view.unfinished())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage::State;

    fn balanced() -> Audit {
        let books = Books { requests: 2, served: 2, orders: 2, coins: 11, ..Books::default() };
        let states = [0, 11, 2].map(|taken| State { stock: STOCK - taken, orders: 2 });
        let view = View { placed: 2, bank: books, carrier: books, states, ..View::default() };
        Audit { view, tokens: 4, tokens_left: 0, dedup: true }
    }

    #[test]
    fn failed_checks_are_named_in_the_error() {
        assert_eq!(balanced().check(), Ok(()));
        let imbalances: [(fn(&mut Audit), &str); 7] = [
            (|audit| audit.view.bank.served = 5, "bank: 3 repetitions, expected 0"),
            (|audit| audit.view.bank.mispriced = 1, "bank: 1 orders at another price, expected 0"),
            (|audit| audit.view.placed = 3, "bank: 2 orders, expected 3; carrier: 2 orders, expected 3"),
            (|audit| audit.view.states[1].stock -= 5, "accounts and bank: 15999995 coins, expected 16000000"),
            (|audit| audit.view.states[2].stock += 1, "shelves and carrier: 16000001 pieces, expected 16000000"),
            (|audit| audit.view.unfinished[1] = 2, "outboxes: 2 entries, expected 0"),
            (|audit| audit.tokens_left = 7, "store: 7 tokens, expected 0"),
        ];
        for (change, imbalance) in imbalances {
            let mut audit = balanced();
            change(&mut audit);
            assert_eq!(audit.check().unwrap_err().to_string(), format!("out of balance; {imbalance}"));
        }
    }

    #[test]
    fn unplaced_order_is_not_counted_as_a_repetition() {
        let mut audit = balanced();
        audit.view.carrier = Books { served: 2, orders: 1, unknown: 1, ..audit.view.carrier };
        assert_eq!((audit.repetitions(), audit.check().is_err()), (0, true));
        audit.view.carrier.served = 5;
        assert_eq!(audit.repetitions(), 3);
    }
}
