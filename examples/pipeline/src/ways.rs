//! Where the messages of a stage go: to queues, to the bank, to the carrier.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use storagebox::messages::{BoxError, Dispatcher, Outgoing};
use storagebox::{Tokens, async_trait};

use crate::messages::Body;
use crate::outside::{Outside, Service};
use crate::queues::Queues;

pub(crate) struct Ways {
    pub(crate) queues: Queues,
    pub(crate) outside: Outside,
    pub(crate) tokens: Tokens,
    pub(crate) sent: Sent,
}

#[async_trait]
impl Dispatcher for Ways {
    async fn dispatch(&self, messages: &[Outgoing]) -> Result<(), BoxError> {
        self.sent.note(messages)?;
        let mut onward = Vec::with_capacity(messages.len());
        for message in messages {
            match Service::of(message.destination.as_str()) {
                Some(service) => self.ask(service, message).await?,
                None => onward.push(message.clone()),
            }
        }
        if onward.is_empty() { Ok(()) } else { self.queues.dispatch(&onward).await }
    }
}

impl Ways {
    /// Whether the service does it or did it before, it is done. Then nobody is left who would consume the message's
    /// token.
    async fn ask(&self, service: Service, message: &Outgoing) -> Result<(), BoxError> {
        self.outside.request(service, &message.token, Body::order(&message.body)?).await?;
        self.tokens.discard([&message.token]).await?;
        Ok(())
    }
}

/// The tokens of all messages that were sent, so that whoever looks for those that are left knows them all: a store does
/// not list its tokens. What was written outlives a process that is killed.
#[derive(Debug)]
pub(crate) struct Sent(File);

const FILE: &str = "sent.txt";

impl Sent {
    pub(crate) fn open(folder: &Path) -> io::Result<Self> {
        OpenOptions::new().append(true).create(true).open(folder.join(FILE)).map(Self)
    }

    /// One write, so that the lines of several processes do not mix.
    fn note(&self, messages: &[Outgoing]) -> io::Result<()> {
        let lines: String = messages.iter().map(|message| format!("{}\n", message.token.as_str())).collect();
        (&self.0).write_all(lines.as_bytes())
    }

    /// Each token once.
    pub(crate) fn all(folder: &Path) -> io::Result<Vec<String>> {
        let mut tokens: Vec<_> = std::fs::read_to_string(folder.join(FILE))?.lines().map(str::to_owned).collect();
        tokens.sort_unstable();
        tokens.dedup();
        Ok(tokens)
    }
}
