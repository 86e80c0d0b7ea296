//! Whether everything came out even.

use std::collections::BTreeMap;
use std::fmt;

use futures_util::future::try_join_all;

use crate::failure::Failure;
use crate::messages::{COINS, CUSTOMERS, Order};
use crate::outside::Service;
use crate::place::Site;
use crate::watch::{Seen, Watch};
use crate::ways::Sent;

/// How many tokens are looked up at once.
const AT_ONCE: usize = 64;

/// What a run came to.
#[derive(Clone, Debug)]
pub(crate) struct Balance {
    pub(crate) seen: Seen,
    pub(crate) supplied: u64,
    /// Tokens of messages that were sent, and how many of them are not consumed.
    pub(crate) tokens: usize,
    pub(crate) tokens_left: usize,
    bank: Served,
    carrier: Served,
}

/// Orders that a service did not serve once each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Served {
    never: u64,
    again: u64,
    at_another_price: u64,
    /// Of numbers that nobody ordered.
    unknown: u64,
}

impl Served {
    fn of(orders: &[(u64, u64, u64)], placed: u64) -> Self {
        let served: BTreeMap<_, _> = orders.iter().map(|(number, times, coins)| (*number, (*times, *coins))).collect();
        let count = |is_counted: &dyn Fn(u64) -> bool| (0..placed).filter(|number| is_counted(*number)).count() as u64;
        let is_dear = |number| served.get(&number).is_some_and(|(_, coins)| *coins != Order::numbered(number).coins);
        Self {
            never: count(&|number| !served.contains_key(&number)),
            again: count(&|number| served.get(&number).is_some_and(|(times, _)| *times > 1)),
            at_another_price: count(&is_dear),
            unknown: served.range(placed..).count() as u64,
        }
    }
}

impl Balance {
    pub(crate) async fn of(site: &Site, placed: u64, supplied: u64) -> Result<Self, Failure> {
        let seen = Watch::of(site)?.look(placed).await?;
        let bank = Served::of(&site.outside.orders(Service::Bank).await?, placed);
        let carrier = Served::of(&site.outside.orders(Service::Carrier).await?, placed);
        let sent = Sent::all(&site.folder)?;
        let tokens_left = tokens_left(site, &sent).await?;
        Ok(Self { seen, supplied, tokens: sent.len(), tokens_left, bank, carrier })
    }

    /// No order paid or shipped more than once, whatever else is not even.
    pub(crate) fn none_doubled(&self) -> Result<(), Unbalanced> {
        let (bank, carrier) = (self.bank.again, self.carrier.again);
        Unbalanced::unless_even([Fault::Again(Service::Bank, bank), Fault::Again(Service::Carrier, carrier)])
    }

    /// Every order paid once and shipped once, every coin and every piece somewhere once.
    pub(crate) fn goods(&self) -> Result<(), Unbalanced> {
        let even = [
            Fault::Never(Service::Bank, self.bank.never),
            Fault::Again(Service::Bank, self.bank.again),
            Fault::OtherPrice(self.bank.at_another_price),
            Fault::Unknown(Service::Bank, self.bank.unknown),
            Fault::Never(Service::Carrier, self.carrier.never),
            Fault::Again(Service::Carrier, self.carrier.again),
            Fault::Unknown(Service::Carrier, self.carrier.unknown),
            Fault::Coins { there: self.seen.coins + self.seen.bank.coins, before: CUSTOMERS * COINS },
            Fault::Pieces { there: self.seen.pieces + self.seen.carrier.done, before: self.supplied },
        ];
        Unbalanced::unless_even(even)
    }

    /// That, and nothing left of any message.
    pub(crate) fn whole(&self) -> Result<(), Unbalanced> {
        let entries = self.seen.half_done.iter().sum::<usize>();
        self.goods()?;
        Unbalanced::unless_even([Fault::Entries(entries as u64), Fault::Tokens(self.tokens_left as u64)])
    }
}

async fn tokens_left(site: &Site, sent: &[String]) -> Result<usize, Failure> {
    let (tokens, mut left) = (site.tokens()?, 0);
    for some in sent.chunks(AT_ONCE) {
        let looks = try_join_all(some.iter().map(|token| tokens.exists(token))).await?;
        left += looks.into_iter().filter(|exists| *exists).count();
    }
    Ok(left)
}

impl fmt::Display for Balance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Seen { placed, coins, pieces, bank, carrier, half_done, .. } = self.seen;
        write!(
            f,
            "{placed} orders, {} payments, {} parcels; {coins} coins in accounts + {} at the bank; {pieces} pieces on \
             shelves + {} sent; left: {} entries, {} of {} tokens; the outside refused {} of {} requests",
            bank.done,
            carrier.done,
            bank.coins,
            carrier.done,
            half_done.iter().sum::<usize>(),
            self.tokens_left,
            self.tokens,
            bank.refused + carrier.refused,
            bank.requests + carrier.requests,
        )
    }
}

/// What is not even, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unbalanced(Vec<Fault>);

impl Unbalanced {
    fn unless_even(faults: impl IntoIterator<Item = Fault>) -> Result<(), Self> {
        let faults: Vec<_> = faults.into_iter().filter(|fault| !fault.is_none()).collect();
        if faults.is_empty() { Ok(()) } else { Err(Self(faults)) }
    }
}

impl fmt::Display for Unbalanced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<_> = self.0.iter().map(Fault::to_string).collect();
        f.write_str(&words.join("; "))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Never(Service, u64),
    Again(Service, u64),
    Unknown(Service, u64),
    OtherPrice(u64),
    Coins { there: u64, before: u64 },
    Pieces { there: u64, before: u64 },
    Entries(u64),
    Tokens(u64),
}

impl Fault {
    fn is_none(&self) -> bool {
        match *self {
            Self::Never(_, count) | Self::Again(_, count) | Self::Unknown(_, count) => count == 0,
            Self::OtherPrice(count) | Self::Entries(count) | Self::Tokens(count) => count == 0,
            Self::Coins { there, before } | Self::Pieces { there, before } => there == before,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let done = |service| match service {
            Service::Bank => "paid",
            Service::Carrier => "shipped",
        };
        match *self {
            Self::Never(service, count) => write!(f, "{count} orders were never {}", done(service)),
            Self::Again(service, count) => write!(f, "{count} orders were {} more than once", done(service)),
            Self::Unknown(service, count) => write!(f, "{count} orders were {} that nobody placed", done(service)),
            Self::OtherPrice(count) => write!(f, "{count} orders were paid at another price"),
            Self::Coins { there, before } => write!(f, "there were {before} coins, and now there are {there}"),
            Self::Pieces { there, before } => write!(f, "there were {before} pieces, and now there are {there}"),
            Self::Entries(count) => write!(f, "{count} entries are left in the outboxes"),
            Self::Tokens(count) => write!(f, "{count} tokens are left"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outside::Books;

    fn paid(number: u64, times: u64) -> (u64, u64, u64) {
        (number, times, Order::numbered(number).coins)
    }

    fn even() -> Balance {
        let books = Books { requests: 2, refused: 0, orders: 2, done: 2, coins: 11 };
        let coins = CUSTOMERS * COINS - 11;
        let seen = Seen { placed: 2, coins, pieces: 8, bank: books, carrier: books, ..Seen::default() };
        let served = Served::of(&[paid(0, 1), paid(1, 1)], 2);
        Balance { seen, supplied: 10, tokens: 4, tokens_left: 0, bank: served, carrier: served }
    }

    #[test]
    fn every_order_is_served_once_at_its_price() {
        assert_eq!(even().whole(), Ok(()));
        let served = Served::of(&[paid(0, 1), paid(2, 2), (3, 1, 1), paid(9, 1)], 4);
        assert_eq!(served, Served { never: 1, again: 1, at_another_price: 1, unknown: 1 });
    }

    #[test]
    fn what_is_not_even_is_named() {
        let unbalanced = |spoil: fn(&mut Balance)| {
            let mut balance = even();
            spoil(&mut balance);
            balance.whole().unwrap_err().to_string()
        };
        assert_eq!(unbalanced(|balance| balance.bank.again = 3), "3 orders were paid more than once");
        assert_eq!(unbalanced(|balance| balance.carrier.never = 1), "1 orders were never shipped");
        let coins = "there were 16000000 coins, and now there are 15999995";
        assert_eq!(unbalanced(|balance| balance.seen.coins -= 5), coins);
        assert_eq!(unbalanced(|balance| balance.seen.pieces += 1), "there were 10 pieces, and now there are 11");
        assert_eq!(unbalanced(|balance| balance.seen.half_done[1] = 2), "2 entries are left in the outboxes");
        assert_eq!(unbalanced(|balance| balance.tokens_left = 7), "7 tokens are left");
    }

    #[test]
    fn what_is_lost_is_not_doubled() {
        let lost = Served { never: 1, at_another_price: 1, unknown: 1, again: 0 };
        let mut balance = Balance { bank: lost, carrier: lost, tokens_left: 1, ..even() };
        balance.seen.coins -= 5;
        assert_eq!((balance.none_doubled(), balance.goods().is_err()), (Ok(()), true));
        balance.carrier.again = 3;
        assert_eq!(balance.none_doubled().unwrap_err().to_string(), "3 orders were shipped more than once");
    }
}
