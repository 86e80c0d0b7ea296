//! The settings and connections of every process of a run: the store, the queues, the bank and the carrier.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::future::ready;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::builder::BoolishValueParser;
use clap::{ArgAction, Args};
use storagebox::messages::{BoxError, Destination, Dispatcher, MissingToken, Outgoing};
use storagebox::{Message, Payload, Processor, Store, Tokens, async_trait};

use crate::failure::Failure;
use crate::queues::Queues;
use crate::services::{BANK, CARRIER, Services};
use crate::stage::{Body, Refusal, Stage};

/// The name of the file with the tokens of all messages.
const TOKENS: &str = "tokens.txt";

pub(crate) fn on_or_off() -> BoolishValueParser {
    BoolishValueParser::new()
}

/// The settings that all processes of a run share.
#[derive(Args, Clone)]
pub(crate) struct Settings {
    /// The name of the run. The names of the run's queues and entities begin with this name.
    #[arg(long, env = "PIPELINE_NAME")]
    pub(crate) name: String,
    /// The URL of the store.
    #[arg(long, env = "PIPELINE_STORE", hide_env_values = true)]
    pub(crate) store: String,
    /// The URL of the broker: postgres://, redis://, nats:// or amqp://.
    #[arg(long, env = "PIPELINE_TRANSPORT", hide_env_values = true)]
    pub(crate) transport: String,
    /// The folder with the SQLite file of the external services (bank and carrier).
    #[arg(long, env = "PIPELINE_FOLDER")]
    pub(crate) folder: PathBuf,
    /// Whether stages use the tokens of their messages: `on` or `off`.
    #[arg(long, env = "PIPELINE_DEDUP", default_value = "on", action = ArgAction::Set, value_parser = on_or_off())]
    pub(crate) dedup: bool,
}

impl Settings {
    /// Returns the settings of a run with a random name. The store defaults to a SQLite file in the folder.
    pub(crate) fn new(folder: &Path, transport: String, store: Option<String>, dedup: bool) -> Self {
        let name = format!("run-{:08x}", fastrand::u32(..));
        let store = store.unwrap_or_else(|| format!("sqlite:{}", folder.join("store.db").display()));
        Self { name, store, transport, folder: folder.to_owned(), dedup }
    }

    /// Returns the environment variables for a worker of the run.
    pub(crate) fn variables(&self) -> [(&'static str, &OsStr); 5] {
        // Other users can see the arguments of a process, and URLs may contain passwords.
        [
            ("PIPELINE_NAME", self.name.as_ref()),
            ("PIPELINE_STORE", self.store.as_ref()),
            ("PIPELINE_TRANSPORT", self.transport.as_ref()),
            ("PIPELINE_FOLDER", self.folder.as_ref()),
            ("PIPELINE_DEDUP", if self.dedup { "on" } else { "off" }.as_ref()),
        ]
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(crate) fn append(&self, file: &str, lines: &str) -> io::Result<()> {
        // A single write keeps the lines of several processes apart.
        File::options().append(true).create(true).open(self.file(file))?.write_all(lines.as_bytes())
    }

    fn check(&self) -> Result<(), Failure> {
        if self.store.starts_with("memory:") {
            return Err(Failure::MemoryStore);
        }
        // NATS accepts no other names.
        let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
        let is_name = (1..=32).contains(&self.name.len()) && self.name.chars().all(is_allowed);
        if is_name { Ok(()) } else { Err(Failure::Name) }
    }
}

#[derive(Clone)]
pub(crate) struct Pipeline {
    pub(crate) settings: Settings,
    pub(crate) store: Store,
    pub(crate) queues: Queues,
    pub(crate) services: Services,
}

impl Pipeline {
    pub(crate) async fn open(settings: &Settings) -> Result<Self, Failure> {
        settings.check()?;
        let store = Store::open(&settings.store).await?;
        let queues = Queues::connect(&settings.transport).await?;
        let services = Services::open(&settings.file("books.db")).await?;
        Ok(Self { settings: settings.clone(), store, queues, services })
    }

    /// Sets up the store, and creates the queues of the run.
    pub(crate) async fn setup(&self) -> Result<(), Failure> {
        self.store.setup().await?;
        for stage in Stage::ALL {
            self.queues.setup(&self.queue(stage.name())?).await?;
        }
        Ok(())
    }

    /// Returns the processor of a stage. All stages use the same tokens.
    pub(crate) fn processor(&self, stage: Stage) -> storagebox::Result<Processor> {
        let decide = move |state: Option<Payload>, message: Message| ready(stage.decide(state, &message));
        let missing = if self.settings.dedup { MissingToken::Reject } else { MissingToken::Unprotected };
        let (entities, tokens) = (self.name(stage.name()), self.name("tokens"));
        let processor = self.store.processor(entities, decide)?.receives(tokens.clone())?;
        processor.sends(tokens, self.clone())?.without_token(missing).build()
    }

    pub(crate) fn queue(&self, stage: &str) -> storagebox::Result<Destination> {
        self.name(stage).try_into()
    }

    pub(crate) fn tokens(&self) -> storagebox::Result<Tokens> {
        self.store.tokens(self.name("tokens"))
    }

    /// Returns the name with the prefix of this run.
    pub(crate) fn name(&self, name: &str) -> String {
        format!("{}-{name}", self.settings.name)
    }

    /// Sends a request to the bank or the carrier.
    async fn request(&self, service: &str, message: &Outgoing) -> Result<(), BoxError> {
        let Body::Order(order) = message.body.parse_json()? else { return Err(Refusal::WrongReceiver.into()) };
        self.services.request(service, &message.token, order).await?;
        // No stage consumes the token of the message.
        self.tokens()?.discard([&message.token]).await?;
        Ok(())
    }

    /// Records the tokens of messages in a file, because a store cannot list its tokens.
    fn record_tokens(&self, messages: &[Outgoing]) -> io::Result<()> {
        let lines: String = messages.iter().map(|message| format!("{}\n", message.token.as_str())).collect();
        self.settings.append(TOKENS, &lines)
    }

    /// Returns the tokens of all messages that were sent.
    pub(crate) fn recorded_tokens(&self) -> io::Result<BTreeSet<String>> {
        Ok(fs::read_to_string(self.settings.file(TOKENS))?.lines().map(str::to_owned).collect())
    }
}

#[async_trait]
impl Dispatcher for Pipeline {
    async fn dispatch(&self, messages: &[Outgoing]) -> Result<(), BoxError> {
        self.record_tokens(messages)?;
        let mut onward = Vec::new();
        for message in messages {
            match message.destination.as_str() {
                service @ (BANK | CARRIER) => self.request(service, message).await?,
                stage => onward.push(Outgoing { destination: self.queue(stage)?, ..message.clone() }),
            }
        }
        if onward.is_empty() { Ok(()) } else { self.queues.dispatcher().dispatch(&onward).await }
    }
}
