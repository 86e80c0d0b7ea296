//! Where a run takes place: its store, its queues, its names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use storagebox::messages::{Destination, MissingToken};
use storagebox::{Message, Payload, Processor, Result as StoreResult, Store, Tokens};

use crate::failure::Failure;
use crate::names::Names;
use crate::outside::Outside;
use crate::queues::Queues;
use crate::stage::Stage;
use crate::ways::{Sent, Ways};

/// Whether stages look at the tokens of their messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Dedup {
    #[default]
    On,
    /// A copy that comes again is processed again.
    Off,
}

impl Dedup {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Off => "off",
        }
    }
}

/// What all processes of a run are told. The URLs may hold passwords, so they may come from the environment, and nothing
/// shows them.
#[derive(Args, Clone)]
pub(crate) struct Place {
    /// The name of the run, which its queues and entities have before theirs.
    #[arg(long, env = "PIPELINE_NAME")]
    pub(crate) name: String,
    /// The URL of the store.
    #[arg(long, env = "PIPELINE_STORE", hide_env_values = true)]
    pub(crate) store: String,
    /// The URL of the broker: postgres://, redis://, nats:// or amqp://.
    #[arg(long, env = "PIPELINE_TRANSPORT", hide_env_values = true)]
    pub(crate) transport: String,
    /// The folder with the books of the bank and the carrier.
    #[arg(long, env = "PIPELINE_FOLDER")]
    pub(crate) folder: PathBuf,
    /// Whether stages look at the tokens of their messages.
    #[arg(long, env = "PIPELINE_DEDUP", default_value = "on")]
    pub(crate) dedup: Dedup,
}

impl Place {
    /// The same, for a child.
    pub(crate) fn variables(&self) -> [(&'static str, &std::ffi::OsStr); 5] {
        [
            ("PIPELINE_NAME", self.name.as_ref()),
            ("PIPELINE_STORE", self.store.as_ref()),
            ("PIPELINE_TRANSPORT", self.transport.as_ref()),
            ("PIPELINE_FOLDER", self.folder.as_os_str()),
            ("PIPELINE_DEDUP", self.dedup.name().as_ref()),
        ]
    }

    /// Where the workers write why they failed.
    pub(crate) fn log(&self) -> PathBuf {
        self.folder.join("workers.log")
    }

    /// A name that no other run has.
    pub(crate) fn fresh_name() -> String {
        format!("run-{:08x}", fastrand::u32(..))
    }

    /// The URL of a store in this folder.
    pub(crate) fn sqlite(folder: &Path) -> String {
        format!("sqlite:{}", folder.join("store.db").display())
    }

    fn check(&self) -> Result<(), Failure> {
        if self.store.starts_with("memory:") {
            return Err(Failure::MemoryStore);
        }
        // NATS takes no other names.
        let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
        let is_name = (1..=32).contains(&self.name.len()) && self.name.chars().all(fits);
        if is_name { Ok(()) } else { Err(Failure::Name) }
    }
}

/// A place with its connections.
#[derive(Clone)]
pub(crate) struct Site {
    pub(crate) names: Names,
    pub(crate) dedup: Dedup,
    pub(crate) folder: PathBuf,
    pub(crate) store: Store,
    pub(crate) queues: Queues,
    pub(crate) outside: Outside,
}

impl Site {
    pub(crate) async fn open(place: &Place) -> Result<Self, Failure> {
        place.check()?;
        let store = Store::open(&place.store).await?;
        let queues = Queues::connect(&place.transport).await?;
        let outside = Outside::open(&place.folder).await?;
        let (names, folder) = (Names::new(&place.name), place.folder.clone());
        Ok(Self { names, dedup: place.dedup, folder, store, queues, outside })
    }

    /// Creates what the run needs in the store and at the broker.
    pub(crate) async fn setup(&self) -> Result<(), Failure> {
        self.store.setup().await?;
        for stage in Stage::ALL {
            self.queues.setup(&self.queue(stage)?).await.map_err(Failure::Queues)?;
        }
        Ok(())
    }

    pub(crate) fn queue(&self, stage: Stage) -> StoreResult<Destination> {
        self.names.queue(stage).try_into()
    }

    pub(crate) fn tokens(&self) -> StoreResult<Tokens> {
        self.store.tokens(self.names.tokens())
    }

    /// The processor of a stage. All stages share one namespace of tokens.
    pub(crate) fn processor(&self, stage: Stage) -> Result<Processor, Failure> {
        let names = self.names.clone();
        let decide =
            move |state: Option<Payload>, message: Message| std::future::ready(stage.decide(&names, state, &message));
        let processor = self.store.processor(self.names.entities(stage), decide)?.receives(self.names.tokens())?;
        let processor = processor.sends(self.names.tokens(), self.ways()?)?;
        let missing = match self.dedup {
            Dedup::On => MissingToken::Reject,
            Dedup::Off => MissingToken::Unprotected,
        };
        Ok(processor.without_token(missing).build()?)
    }

    pub(crate) fn ways(&self) -> Result<Arc<Ways>, Failure> {
        let (queues, outside) = (self.queues.clone(), self.outside.clone());
        Ok(Arc::new(Ways { queues, outside, tokens: self.tokens()?, sent: Sent::open(&self.folder)? }))
    }
}
