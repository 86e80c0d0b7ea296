//! Counterexamples as text for people.

use std::fmt;

use crate::promises::Violation;
use crate::state::{Endpoint, Set};
use crate::store::{Reply, Request, Write};
use crate::worker::At;
use crate::world::Event;

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for event in &self.run {
            writeln!(f, "then: {event}")?;
        }
        write!(f, "   => it breaks: {}", self.promise)
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Received(endpoint, token) => write!(f, "{endpoint} receives the message with token {token}"),
            Self::Read(worker, there) => {
                let what = match worker.at {
                    At::Check => format!("looks for token {}", worker.incoming),
                    At::LoadAgain => "loads the entity again".to_owned(),
                    _ => "loads the entity".to_owned(),
                };
                write!(f, "{} {what}{}", worker.endpoint, if *there { "" } else { ": the token is gone" })
            }
            Self::Wrote(request, reply) => write!(f, "{request}{reply}"),
            Self::Sent(token) => write!(f, "upstream sends its message with token {token}"),
            Self::Acknowledged(endpoint) => write!(f, "{endpoint} acknowledges"),
            Self::Unanswered(request) => write!(f, "{request} -> no reply, still in flight"),
            Self::Doubled(request) => write!(f, "{request}, and once more later"),
            Self::Landed(request) => write!(f, "in flight: {request}"),
            Self::Crashed(worker) => write!(f, "a worker of {} crashes", worker.endpoint),
            Self::Expired(token) => write!(f, "token {token} expires"),
        }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.endpoint, self.write)
    }
}

impl fmt::Display for Write {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Commit { own: Some(own), .. } => write!(f, "commits, with token {own}"),
            Self::Commit { own: None, .. } => f.write_str("commits"),
            Self::Register(token) => write!(f, "registers token {token}"),
            Self::Create(token) => write!(f, "creates token {token}"),
            Self::Choose(token) => write!(f, "chooses token {token}"),
            Self::Discard(tokens) => write!(f, "discards {tokens}"),
            Self::Consume(token) => write!(f, "consumes token {token}"),
            Self::Remove => f.write_str("removes the entry"),
        }
    }
}

impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tokens")?;
        self.iter().try_for_each(|token| write!(f, " {token}"))
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done => Ok(()),
            Self::Conflict => f.write_str(" -> the entity has changed"),
            Self::TokenGone => f.write_str(" -> the token is gone"),
            Self::Chosen(token) => write!(f, " -> token {token} was chosen"),
            Self::NoEntry => f.write_str(" -> there is no entry"),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Upstream => "upstream",
            Self::Downstream => "downstream",
        })
    }
}
