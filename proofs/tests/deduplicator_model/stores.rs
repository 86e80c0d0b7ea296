//! The record store and the banks. A request is one atomic step of one of them; nothing else is atomic.

use crate::symbol::Symbol;

pub(crate) const IDS: usize = 2;
pub(crate) const BANKS: usize = 2;
const ITEMS_PER_BANK: u8 = 2;
/// The maximum number of claims in a state.
pub(crate) const CLAIMS: usize = 10;

pub(crate) type Bank = u8;
/// The number of an item, unique across all banks.
pub(crate) type Item = u8;

pub(crate) type Id = Symbol;
/// A claim, made of an id and the nonce of an intent.
pub(crate) type Claim = Symbol;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Record {
    #[default]
    Absent,
    Nothing,
    Intent(Bank, Claim),
    GivingUp(Bank, Claim),
    Assigned(Bank, Claim, Item),
}

impl Record {
    pub(crate) fn is_intent_of(self, claim: Claim) -> bool {
        matches!(self, Self::Intent(_, intended) if intended == claim)
    }

    pub(crate) fn claim_mut(&mut self) -> Option<&mut Claim> {
        match self {
            Self::Absent | Self::Nothing => None,
            Self::Intent(_, claim) | Self::GivingUp(_, claim) | Self::Assigned(_, claim, _) => Some(claim),
        }
    }
}

/// Whether a version of a record is the current version. A superseded version never becomes current again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Version {
    Current,
    Superseded,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Condition {
    Absent,
    Unchanged(Version),
    /// No condition, only in a mutant.
    Whatever,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Request {
    Read(Id),
    Write(Id, Condition, Record),
    Take(Bank, Claim),
    Release(Bank, Claim),
}

impl Request {
    pub(crate) fn writes_intent_of(self, claim: Claim) -> bool {
        matches!(self, Self::Write(_, _, record) if record.is_intent_of(claim))
    }

    pub(crate) fn id_mut(&mut self) -> Option<&mut Id> {
        match self {
            Self::Read(id) | Self::Write(id, ..) => Some(id),
            Self::Take(..) | Self::Release(..) => None,
        }
    }

    pub(crate) fn claim_mut(&mut self) -> Option<&mut Claim> {
        match self {
            Self::Read(_) => None,
            Self::Write(_, _, record) => record.claim_mut(),
            Self::Take(_, claim) | Self::Release(_, claim) => Some(claim),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// The write was applied. Contains the written record.
    Won(Record),
    /// The current record: the answer to a read, or to a write that was not applied.
    Met(Record),
    Holds(Item),
    Empty,
    Ended,
    Released,
}

/// The state of a claim in a bank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Holding {
    #[default]
    Unknown,
    Held(Item),
    Ended,
}

/// A set of items, with one bit per item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Items(u8);

impl Items {
    pub(crate) fn contains(self, item: Item) -> bool {
        self.0 & (1 << item) != 0
    }

    pub(crate) fn insert(&mut self, item: Item) {
        self.0 |= 1 << item;
    }

    fn remove(&mut self, item: Item) {
        self.0 &= !(1 << item);
    }

    pub(crate) fn len(self) -> u8 {
        self.0.count_ones() as u8
    }

    pub(crate) fn of_bank(self, bank: Bank) -> Self {
        let bank_0 = (1 << ITEMS_PER_BANK) - 1;
        Self(self.0 & (bank_0 << (bank * ITEMS_PER_BANK)))
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = Item> {
        (0..BANKS as u8 * ITEMS_PER_BANK).filter(move |item| self.contains(*item))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Stores {
    pub(crate) records: [Record; IDS],
    pub(crate) added: Items,
    pub(crate) free: Items,
    pub(crate) claims: [Holding; CLAIMS],
}

impl Stores {
    pub(crate) fn record(&self, id: Id) -> Record {
        self.records[id.slot()]
    }

    pub(crate) fn holding(&self, claim: Claim) -> Holding {
        self.claims[claim.slot()]
    }

    pub(crate) fn refill(&mut self, bank: Bank) {
        let item = bank * ITEMS_PER_BANK + self.added.of_bank(bank).len();
        self.added.insert(item);
        self.free.insert(item);
    }

    /// Returns the number of possible results of a request. A take may get any free item.
    pub(crate) fn choices(&self, request: Request) -> u8 {
        match request {
            Request::Take(bank, claim) if self.holding(claim) == Holding::Unknown => {
                self.free.of_bank(bank).len().max(1)
            }
            _ => 1,
        }
    }

    pub(crate) fn perform(&mut self, request: Request, choice: u8) -> Reply {
        match request {
            Request::Read(id) => Reply::Met(self.record(id)),
            Request::Write(id, condition, new) => self.write(id, condition, new),
            Request::Take(bank, claim) => self.take(bank, claim, choice),
            Request::Release(_, claim) => self.release(claim),
        }
    }

    fn write(&mut self, id: Id, condition: Condition, new: Record) -> Reply {
        if !self.meets(id, condition) {
            return Reply::Met(self.record(id));
        }
        self.records[id.slot()] = new;
        Reply::Won(new)
    }

    fn meets(&self, id: Id, condition: Condition) -> bool {
        match condition {
            Condition::Absent => self.record(id) == Record::Absent,
            Condition::Unchanged(version) => version == Version::Current,
            Condition::Whatever => true,
        }
    }

    fn take(&mut self, bank: Bank, claim: Claim, choice: u8) -> Reply {
        match self.holding(claim) {
            Holding::Held(item) => Reply::Holds(item),
            Holding::Ended => Reply::Ended,
            Holding::Unknown => match self.free.of_bank(bank).iter().nth(usize::from(choice)) {
                Some(item) => self.hand_out(item, claim),
                None => Reply::Empty,
            },
        }
    }

    fn hand_out(&mut self, item: Item, claim: Claim) -> Reply {
        self.free.remove(item);
        self.claims[claim.slot()] = Holding::Held(item);
        Reply::Holds(item)
    }

    /// Ends a claim, even if no item was taken with it.
    fn release(&mut self, claim: Claim) -> Reply {
        if let Holding::Held(item) = self.holding(claim) {
            self.free.insert(item);
        }
        self.claims[claim.slot()] = Holding::Ended;
        Reply::Released
    }

    /// Returns whether a request could still change something, now or later.
    pub(crate) fn can_change(&self, request: Request) -> bool {
        match request {
            Request::Read(_) => false,
            Request::Write(id, condition, _) => self.meets(id, condition),
            Request::Take(_, claim) => self.holding(claim) == Holding::Unknown,
            Request::Release(_, claim) => self.holding(claim) != Holding::Ended,
        }
    }
}
