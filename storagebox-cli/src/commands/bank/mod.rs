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
use storagebox::async_trait;
use storagebox::bank::Hold;
use storagebox::parts::{Backend, ItemBank};
use storagebox::values::Item;

use crate::answer::Answer;
use crate::cli::{Bank, Extend, OfClaim, OfItem, OfNamespace, Take, without_line_end};
use crate::commands::listing;
use crate::commands::on_store::{OnStore, Outlet};
use crate::exit::{Exit, Failure};
use crate::retry;
use crate::step::Step;

#[async_trait]
impl OnStore for Bank {
    async fn ask(self, store: &dyn Backend, out: Outlet<'_>) -> Result<Exit, Failure> {
        let bank = store.item_bank(&self.of().name).map_err(|error| Step::OpenNamespace.failed(error))?;
        let bank = &*bank;
        let answer = match self {
            Bank::List(args) => return listing::list(bank, args.limit, out.as_json, out.to).await,
            Bank::Audit(args) => return audit::run(&args, bank, out.as_json, out.to).await,
            Bank::Import(args) => return import::run(&args, bank, out.as_json, out.to).await,
            Bank::Load(args) => load::run(&args, bank, out.reserved).await?,
            Bank::Reclaim(args) => reclaim::run(&args, bank, out.reserved).await?,
            Bank::Take(args) => take(&args, bank).await?,
            Bank::Extend(args) => extend(&args, bank).await?,
            Bank::Confirm(args) => confirm(&args, bank).await?,
            Bank::Release(args) => release(&args, bank).await?,
            Bank::Retire(args) => retire(&args, bank).await?,
            Bank::Withdraw(args) => items::withdraw(&args, bank, out.reserved).await?,
            Bank::Restore(args) => items::restore(&args, bank, out.reserved).await?,
            Bank::Show(args) => show(&args, bank).await?,
            Bank::Holder(args) => holder(&args, bank).await?,
            Bank::Counts(args) => counts(&args, bank).await?,
        };
        out.print(answer)
    }
}

async fn take(args: &Take, bank: &dyn ItemBank) -> Result<Answer, Failure> {
    let Take { claim, hold } = args;
    let hold = hold.unwrap_or(Hold::Forever);
    let taken = retry::named(Step::Take, || bank.take(&claim.id, hold)).await?;
    Ok(answers::taken(claim, &taken))
}

async fn extend(args: &Extend, bank: &dyn ItemBank) -> Result<Answer, Failure> {
    let Extend { claim, hold } = args;
    let hold = hold.unwrap_or(Hold::Forever);
    let extended = retry::named(Step::Prolong, || bank.extend(&claim.id, hold)).await?;
    Ok(answers::extended(claim, &extended))
}

async fn confirm(args: &OfClaim, bank: &dyn ItemBank) -> Result<Answer, Failure> {
    let confirmed = retry::named(Step::Confirm, || bank.confirm(&args.id)).await?;
    Ok(answers::confirmed(args, &confirmed))
}

async fn release(args: &OfClaim, bank: &dyn ItemBank) -> Result<Answer, Failure> {
    let released = retry::named(Step::Release, || bank.release(&args.id)).await?;
    Ok(answers::released(args, released))
}

async fn retire(args: &OfClaim, bank: &dyn ItemBank) -> Result<Answer, Failure> {
    let retired = retry::harmless(Step::Retire, || bank.retire(&args.id)).await?;
    Ok(answers::retired(args, retired))
}

async fn show(args: &OfClaim, bank: &dyn ItemBank) -> Result<Answer, Failure> {
    let state = retry::harmless(Step::Show, || bank.get(&args.id)).await?;
    Ok(answers::shown(args, &state))
}

async fn holder(args: &OfItem, bank: &dyn ItemBank) -> Result<Answer, Failure> {
    let item = without_line_end(&args.item).and_then(Item::new).map_err(Failure::Argument)?;
    let state = retry::harmless(Step::FindHolder, || bank.holder(&item)).await?;
    Ok(answers::found(&args.of, &item, &state))
}

async fn counts(args: &OfNamespace, bank: &dyn ItemBank) -> Result<Answer, Failure> {
    let counts = retry::harmless(Step::Count, || bank.counts()).await?;
    Ok(answers::counted(args, &counts))
}
