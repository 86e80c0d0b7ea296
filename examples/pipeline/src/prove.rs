//! `pipeline prove`: checks the promises of the example over each transport, while workers and the broker are killed.

use std::sync::Arc;

use clap::Args;
use storagebox_testkit::Folder;

use crate::audit::Audit;
use crate::failure::Failure;
use crate::parked::park;
use crate::pipeline::Settings;
use crate::run::{Load, run};
use crate::server::{SERVERS, Server};

#[derive(Args)]
#[command(mut_arg("orders", |orders| orders.default_value("1500")))]
#[command(mut_arg("kill_workers", |workers| workers.default_value("100")))]
#[command(mut_arg("kill_broker", |broker| broker.default_value("5")))]
pub(crate) struct Prove {
    /// The transports. Defaults to all of them, one after another.
    #[arg(value_parser = SERVERS, default_values = SERVERS)]
    transports: Vec<String>,
    // The run with the deduplication off has a third of this load.
    #[command(flatten)]
    load: Load,
}

impl Prove {
    pub(crate) async fn execute(self) -> Result<(), Failure> {
        println!("seed {}", self.load.seed);
        for transport in &self.transports {
            let server = Server::start(transport).await?.ok_or(Failure::NoTransport)?;
            self.with_deduplication(transport, &server).await?;
            self.without_deduplication(transport, &server).await?;
            let audit = park(server.url(), true).await?;
            println!("{transport}, parked until all was forgotten, sent again, and copied once more:\n{audit}");
            audit.check()?;
        }
        Ok(())
    }

    async fn with_deduplication(&self, transport: &str, server: &Arc<Server>) -> Result<(), Failure> {
        let audit = run_on(server, true, &self.load).await?;
        println!("{transport}, deduplication on:\n{audit}");
        Ok(audit.check()?)
    }

    /// Runs the pipeline with the deduplication off, and checks that an order is paid or shipped more than once.
    /// Otherwise, the run with the deduplication on would prove nothing.
    async fn without_deduplication(&self, transport: &str, server: &Arc<Server>) -> Result<(), Failure> {
        let Load { orders, kill_workers, kill_broker, .. } = self.load;
        let [orders, kill_workers, kill_broker] = [orders, kill_workers, kill_broker].map(|number| number.div_ceil(3));
        let load = Load { orders, kill_workers, kill_broker, ..self.load };
        let audit = run_on(server, false, &load).await?;
        println!("{transport}, deduplication off:\n{audit}");
        if audit.repetitions() == 0 { Err(Failure::NoRepetitions) } else { Ok(()) }
    }
}

async fn run_on(server: &Arc<Server>, dedup: bool, load: &Load) -> Result<Audit, Failure> {
    let folder = Folder::new("pipeline")?;
    run(&Settings::new(folder.path(), server.url(), server.store(), dedup), Some(server), load).await
}
