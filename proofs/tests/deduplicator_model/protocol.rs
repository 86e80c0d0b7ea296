//! The protocol of a worker, and the mutants that each omit one of its precautions.

use crate::stores::{Bank, Claim, Condition, Id, Item, Record, Reply, Request, Version};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Faithful,
    /// The item is written into the record even if the record has changed.
    UnconditionalWrite,
    /// The claim is released while the record still names the claim.
    ReleaseBeforeGivingUp,
    /// The claim is given up but never ended, so a late take still gets an item.
    NoFence,
    /// A caller that loses the final write releases the claim, although the winner has the same claim.
    LoserReleases,
    /// An id that found its bank empty never chooses another bank.
    NothingIsFinal,
    /// A call whose intent was given up by another call tries the bank again, with a new intent.
    IgnoresItsOwnEnd,
    /// A call takes any given-up intent as a sign that the bank is empty, even an intent written before the call.
    TrustsAnyEnd,
}

/// The next request of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Stage {
    Open(Bank),
    Read,
    Take(Bank, Claim),
    Commit(Bank, Claim, Item),
    GiveUp(Bank, Claim),
    Release(Bank, Claim),
    Choose(Option<Bank>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Call {
    pub(crate) id: Id,
    pub(crate) stage: Stage,
    /// The requested bank, or `None` for a recovery and after the call found the bank empty.
    pub(crate) wish: Option<Bank>,
    /// The version of the record that the call's next write expects.
    pub(crate) met: Version,
    /// The claim of the last intent that the call sent.
    pub(crate) wrote: Option<Claim>,
    /// Whether the requested bank had items at every moment of the call, if the scope watches the stock.
    pub(crate) always_stocked: bool,
}

/// The effect of a reply: the call's next request, or the call's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    Next(Call),
    Answer(Option<Item>),
}

impl Call {
    pub(crate) fn assign(id: Id, bank: Bank) -> Self {
        let (stage, met) = (Stage::Open(bank), Version::Superseded);
        Self { id, stage, wish: Some(bank), met, wrote: None, always_stocked: false }
    }

    pub(crate) fn recover(id: Id) -> Self {
        let (stage, met) = (Stage::Read, Version::Superseded);
        Self { id, stage, wish: None, met, wrote: None, always_stocked: false }
    }

    pub(crate) fn request(&mut self, protocol: Protocol, nonce: impl FnOnce() -> Claim) -> Request {
        match self.stage {
            Stage::Open(bank) => Request::Write(self.id, Condition::Absent, self.intend(bank, nonce)),
            Stage::Read => Request::Read(self.id),
            Stage::Take(bank, claim) => Request::Take(bank, claim),
            Stage::Commit(bank, claim, item) => self.commit(protocol, Record::Assigned(bank, claim, item)),
            Stage::GiveUp(bank, claim) => self.replace(Record::GivingUp(bank, claim)),
            Stage::Release(bank, claim) => Request::Release(bank, claim),
            Stage::Choose(Some(bank)) => {
                let intent = self.intend(bank, nonce);
                self.replace(intent)
            }
            Stage::Choose(None) => self.replace(Record::Nothing),
        }
    }

    fn intend(&mut self, bank: Bank, nonce: impl FnOnce() -> Claim) -> Record {
        Record::Intent(bank, *self.wrote.get_or_insert_with(nonce))
    }

    fn commit(self, protocol: Protocol, assigned: Record) -> Request {
        match protocol {
            Protocol::UnconditionalWrite => Request::Write(self.id, Condition::Whatever, assigned),
            _ => self.replace(assigned),
        }
    }

    fn replace(self, new: Record) -> Request {
        Request::Write(self.id, Condition::Unchanged(self.met), new)
    }

    pub(crate) fn hear(self, protocol: Protocol, reply: Reply) -> Progress {
        match (self.stage, reply) {
            (Stage::Commit(bank, claim, _), Reply::Met(_)) if protocol == Protocol::LoserReleases => {
                self.go(Stage::Release(bank, claim))
            }
            (_, Reply::Won(record) | Reply::Met(record)) => self.informed().carry_on(protocol, record),
            (Stage::Take(bank, claim), Reply::Holds(item)) => self.go(Stage::Commit(bank, claim, item)),
            (Stage::Take(bank, claim), Reply::Empty) => self.without(bank).give_up(protocol, bank, claim),
            (Stage::Take(bank, claim), Reply::Ended) => self.ended(protocol, bank, claim),
            (_, Reply::Released) => self.choose(),
            (stage, reply) => unreachable!("{stage:?} is never answered by {reply:?}"),
        }
    }

    fn informed(self) -> Self {
        Self { met: Version::Current, ..self }
    }

    fn go(self, stage: Stage) -> Progress {
        Progress::Next(Self { stage, ..self })
    }

    fn carry_on(self, protocol: Protocol, record: Record) -> Progress {
        match record {
            Record::Intent(bank, claim) => self.go(Stage::Take(bank, claim)),
            Record::GivingUp(..) if protocol == Protocol::NoFence => self.choose(),
            Record::GivingUp(bank, claim) => self.go(Stage::Release(bank, claim)),
            Record::Assigned(_, _, item) => Progress::Answer(Some(item)),
            Record::Nothing if protocol == Protocol::NothingIsFinal => Progress::Answer(None),
            Record::Nothing if self.wish.is_some() => self.choose(),
            Record::Nothing | Record::Absent => Progress::Answer(None),
        }
    }

    fn choose(self) -> Progress {
        Self { wrote: None, ..self }.go(Stage::Choose(self.wish))
    }

    /// Gives up an ended claim, and also the bank if this call wrote the claim's intent.
    fn ended(self, protocol: Protocol, bank: Bank, claim: Claim) -> Progress {
        // A call gives an intent up only if the bank was empty, but an older intent may have been given up long ago.
        let tells = match protocol {
            Protocol::IgnoresItsOwnEnd => false,
            Protocol::TrustsAnyEnd => true,
            _ => self.wrote == Some(claim),
        };
        let call = if tells { self.without(bank) } else { self };
        call.give_up(protocol, bank, claim)
    }

    fn without(self, bank: Bank) -> Self {
        Self { wish: self.wish.filter(|wish| *wish != bank), ..self }
    }

    fn give_up(self, protocol: Protocol, bank: Bank, claim: Claim) -> Progress {
        match protocol {
            Protocol::ReleaseBeforeGivingUp => self.go(Stage::Release(bank, claim)),
            _ => self.go(Stage::GiveUp(bank, claim)),
        }
    }

    /// Replaces a write that cannot succeed by a read, except in mutants.
    pub(crate) fn simplified(self, protocol: Protocol, record: Record) -> Self {
        let only_reads = protocol == Protocol::Faithful && self.is_bound_to_lose(record);
        let stage = if only_reads { Stage::Read } else { self.stage };
        Self { stage, ..self }
    }

    fn is_bound_to_lose(self, record: Record) -> bool {
        match self.stage {
            Stage::Open(_) => record != Record::Absent,
            Stage::Commit(..) | Stage::GiveUp(..) | Stage::Choose(_) => self.met == Version::Superseded,
            Stage::Read | Stage::Take(..) | Stage::Release(..) => false,
        }
    }

    /// Returns whether the call must still remember that it wrote the intent with the claim `own`.
    pub(crate) fn relies_on(self, own: Claim, may_be_met: bool) -> bool {
        let matters = match self.stage {
            Stage::Take(_, claim) => claim == own,
            Stage::Open(_) | Stage::Read | Stage::Choose(_) => may_be_met,
            Stage::Commit(..) | Stage::GiveUp(..) | Stage::Release(..) => false,
        };
        matters && self.wish.is_some()
    }

    pub(crate) fn claims_mut(&mut self) -> impl Iterator<Item = &mut Claim> {
        let named = match &mut self.stage {
            Stage::Open(_) | Stage::Read | Stage::Choose(_) => None,
            Stage::Take(_, claim) | Stage::Commit(_, claim, _) | Stage::GiveUp(_, claim) | Stage::Release(_, claim) => {
                Some(claim)
            }
        };
        named.into_iter().chain(&mut self.wrote)
    }
}
