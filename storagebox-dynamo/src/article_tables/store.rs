//! The tables as a store with one bank, so that a program which opens stores by URL can open them.

use std::sync::Arc;

use storagebox_core::{
    Backend, Counter, DedupRepo, Error, ItemBank, LeaseRepo, Ledger, Maintained, Namespace, OrderedOptions,
    OrderedStore, Promises, Result, Strategy, TokenStore, async_trait,
};

use super::ArticleTables;
use super::bank::ArticleBank;
use crate::error::misconfigured;

const PROMISES: [(&str, &str); 5] = [
    ("namespaces", "one bank, of the name of the items' table, and no other namespace"),
    ("atomicity", "an item leaves the one table and enters the other in one transaction"),
    (
        "others",
        "a worker of the Python package that dies between its steps loses the item in its hands, whatever is done here",
    ),
    ("not here", "holds that end, confirming, releasing, retiring, withdrawing, and the memory of ended ids"),
    ("regions", "one: a global table resolves conflicts by the last writer, so write in one region alone"),
];

#[async_trait]
impl Backend for ArticleTables {
    fn backend(&self) -> &'static str {
        "dynamo"
    }

    /// Checks that the tables exist. The owners of the tables create them.
    async fn setup(&self) -> Result<()> {
        self.ping().await
    }

    async fn ping(&self) -> Result<()> {
        for table in [self.0.items(), self.0.records()] {
            self.0.client().settle("ping", || self.0.page(table, Some(1), None)).await?;
        }
        Ok(())
    }

    /// Does nothing: the tables have no rows that may be deleted.
    async fn maintain(&self, _: usize) -> Result<Maintained> {
        Ok(Maintained::default())
    }

    /// Does nothing: idle connections close by themselves.
    async fn close(&self) -> Result<()> {
        Ok(())
    }

    fn promises(&self) -> Promises {
        PROMISES.iter().fold(Promises::of("dynamo"), |list, (about, statement)| list.with(about, *statement))
    }

    fn item_bank(&self, name: &Namespace) -> Result<Arc<dyn ItemBank>> {
        let own = self.0.items();
        match name.as_str() == own {
            true => Ok(Arc::new(ArticleBank(self.clone()))),
            false => Err(misconfigured(
                "bank",
                format_args!("must be {own}: these tables have one bank, with the name of the items' table"),
            )),
        }
    }

    fn dedup_repo(&self, _: &Namespace) -> Result<Arc<dyn DedupRepo>> {
        Err(no_namespace("a namespace of records"))
    }

    fn lease_repo(&self, _: &Namespace) -> Result<Arc<dyn LeaseRepo>> {
        Err(no_namespace("a namespace of leases"))
    }

    fn token_store(&self, _: &Namespace) -> Result<Arc<dyn TokenStore>> {
        Err(no_namespace("a namespace of tokens"))
    }

    fn counter(&self, _: &Namespace, _: Strategy) -> Result<Arc<dyn Counter>> {
        Err(no_namespace("a namespace of counters"))
    }

    fn ledger(&self, _: &Namespace) -> Result<Arc<dyn Ledger>> {
        Err(no_namespace("a ledger"))
    }

    fn ordered_store(&self, _: &Namespace, _: OrderedOptions) -> Result<Arc<dyn OrderedStore>> {
        Err(no_namespace("a namespace of ordered values"))
    }
}

fn no_namespace(what: &str) -> Error {
    let what = format_args!("{what} in the tables of article 1");
    Error::unsupported(what, "`dynamodb:` or another backend").on("dynamo")
}
