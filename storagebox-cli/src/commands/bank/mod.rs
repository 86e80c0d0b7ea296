//! `storagebox bank ...`: one bank, from the shell.

mod answers;
mod audit;
mod import;
mod items;
mod list;
mod load;
mod reclaim;
#[cfg(test)]
mod tests;

pub(crate) use audit::audit_of;
use storagebox::bank::Hold;
use storagebox::values::Item;
use storagebox::{Bank, Store, async_trait};

use crate::answer::Answer;
use crate::cli::{self, Extend, OfClaim, OfItem, OfNamespace, Take, without_line_end};
use crate::commands::listing;
use crate::commands::store_command::{Output, StoreCommand};
use crate::exit::{Exit, Failure};

#[async_trait]
impl StoreCommand for cli::Bank {
    async fn ask(self, store: &Store, out: Output<'_>) -> Result<Exit, Failure> {
        let bank = &store.bank(&self.of().name)?;
        let answer = match self {
            Self::List(args) => return listing::list(|| bank.list(), args.limit, out.as_json, out.to).await,
            Self::Audit(args) => return audit::run(&args, bank, out.as_json, out.to).await,
            Self::Import(args) => return import::run(&args, bank, out.as_json, out.to).await,
            Self::Load(args) => load::run(&args, bank, out.reserved).await?,
            Self::Reclaim(args) => reclaim::run(&args, bank, out.reserved).await?,
            Self::Take(args) => take(&args, bank).await?,
            Self::Extend(args) => extend(&args, bank).await?,
            Self::Confirm(args) => confirm(&args, bank).await?,
            Self::Release(args) => release(&args, bank).await?,
            Self::Retire(args) => retire(&args, bank).await?,
            Self::Withdraw(args) => items::withdraw(&args, bank, out.reserved).await?,
            Self::Restore(args) => items::restore(&args, bank, out.reserved).await?,
            Self::Show(args) => show(&args, bank).await?,
            Self::Holder(args) => holder(&args, bank).await?,
            Self::Counts(args) => counts(&args, bank).await?,
        };
        out.print(answer)
    }
}

async fn take(args: &Take, bank: &Bank) -> Result<Answer, Failure> {
    let Take { claim, hold } = args;
    let taken = match hold {
        Some(Hold::For(time)) => bank.take(&claim.id).for_at_most(*time).await?,
        Some(Hold::Forever) | None => bank.assign(&claim.id).await?,
    };
    Ok(answers::taken(claim, &taken))
}

async fn extend(args: &Extend, bank: &Bank) -> Result<Answer, Failure> {
    let Extend { claim, hold } = args;
    let extended = match hold {
        Some(Hold::For(time)) => bank.extend(&claim.id).for_at_most(*time).await?,
        Some(Hold::Forever) | None => bank.extend(&claim.id).forever().await?,
    };
    Ok(answers::extended(claim, &extended))
}

async fn confirm(args: &OfClaim, bank: &Bank) -> Result<Answer, Failure> {
    let confirmed = bank.confirm(&args.id).await?;
    Ok(answers::confirmed(args, &confirmed))
}

async fn release(args: &OfClaim, bank: &Bank) -> Result<Answer, Failure> {
    let released = bank.release(&args.id).await?;
    Ok(answers::released(args, released))
}

async fn retire(args: &OfClaim, bank: &Bank) -> Result<Answer, Failure> {
    let retired = bank.retire(&args.id).await?;
    Ok(answers::retired(args, retired))
}

async fn show(args: &OfClaim, bank: &Bank) -> Result<Answer, Failure> {
    let state = bank.get(&args.id).await?;
    Ok(answers::shown(args, &state))
}

async fn holder(args: &OfItem, bank: &Bank) -> Result<Answer, Failure> {
    let item = without_line_end(&args.item).and_then(Item::new)?;
    let state = bank.holder(&item).await?;
    Ok(answers::found(&args.of, &item, &state))
}

async fn counts(args: &OfNamespace, bank: &Bank) -> Result<Answer, Failure> {
    let counts = bank.counts().await?;
    Ok(answers::counted(args, &counts))
}
