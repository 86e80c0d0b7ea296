//! Counterexamples as text for people.

use std::fmt;

use crate::model::Event;
use crate::properties::Violation;
use crate::protocol::{Call, Progress};
use crate::stores::{Condition, Record, Reply, Request, Version};

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "it breaks {}", self.property)?;
        for event in &self.run {
            writeln!(f, "then: {event}")?;
        }
        write!(f, "   => {}", self.finding)
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Step { worker, call, request, reply, progress } => {
                write!(f, "worker {}, {call}: {request} -> {reply}{progress}", worker.0)
            }
            Self::Timeout { worker, call, request } => {
                write!(f, "worker {}, {call}: {request} -> no reply, still in flight", worker.0)
            }
            Self::Crash(worker) => write!(f, "worker {} crashes", worker.0),
            Self::Landing { request, reply } => write!(f, "in flight: {request} -> {reply}"),
            Self::Refill(bank) => write!(f, "bank {bank} gets one item more"),
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.wish {
            Some(bank) => write!(f, "id {}, wants bank {bank}", self.id),
            None => write!(f, "id {}, wants no bank", self.id),
        }
    }
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Next(_) => Ok(()),
            Self::Answer(Some(item)) => write!(f, ", answers item {item}"),
            Self::Answer(None) => f.write_str(", answers empty"),
        }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(id) => write!(f, "read record {id}"),
            Self::Write(id, Condition::Absent, new) => write!(f, "create record {id} as {new}"),
            Self::Write(id, Condition::Unchanged(Version::Current), new) => {
                write!(f, "replace record {id} by {new}")
            }
            Self::Write(id, Condition::Unchanged(Version::Superseded), new) => {
                write!(f, "replace a former version of record {id} by {new}")
            }
            Self::Write(id, Condition::Whatever, new) => write!(f, "overwrite record {id} by {new}"),
            Self::Take(bank, claim) => write!(f, "take from bank {bank} under claim {claim}"),
            Self::Release(bank, claim) => write!(f, "release claim {claim} in bank {bank}"),
        }
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Won(_) => f.write_str("written"),
            Self::Met(record) => write!(f, "it is {record}"),
            Self::Holds(item) => write!(f, "item {item}"),
            Self::Empty => f.write_str("empty"),
            Self::Ended => f.write_str("the claim has ended"),
            Self::Released => f.write_str("released"),
        }
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("absent"),
            Self::Nothing => f.write_str("nothing"),
            Self::Intent(bank, claim) => write!(f, "intent(bank {bank}, claim {claim})"),
            Self::GivingUp(bank, claim) => write!(f, "giving-up(bank {bank}, claim {claim})"),
            Self::Assigned(bank, claim, item) => {
                write!(f, "assigned(bank {bank}, claim {claim}, item {item})")
            }
        }
    }
}
