//! Everything that can be refused before any work is done.

use std::path::PathBuf;

use crate::cli::HandOut;
use crate::exit::Failure;
use crate::input::{Lines, Source};
use crate::output::{PendingCsv, Target};
use crate::rejects::Rejects;

/// The files of a run, opened.
pub(super) struct Plan {
    pub items: Option<Lines>,
    pub ids: Lines,
    pub out: PendingCsv,
    pub rejects: Rejects,
    pub concurrency: usize,
}

impl Plan {
    pub(super) async fn new(args: &HandOut) -> Result<Self, Failure> {
        let items = args.items.as_deref().map(Source::named);
        let ids = Source::named(&args.ids);
        if ids == Source::StandardInput && items.as_ref() == Some(&ids) {
            return Err(Failure::StandardInputTwice);
        }
        let (out, rejects) = targets(args, items.iter().chain([&ids]))?;
        let items = match items {
            Some(items) => Some(Lines::open(&items, args.header).await?),
            None => None,
        };
        Ok(Self {
            items,
            ids: Lines::open(&ids, args.header).await?,
            out: PendingCsv::create(out, ["id", "item", "outcome"])?,
            rejects: Rejects::new(rejects),
            concurrency: args.concurrency.into(),
        })
    }
}

fn targets<'a>(
    args: &HandOut,
    inputs: impl Iterator<Item = &'a Source>,
) -> Result<(Target, Target), Failure> {
    let out = Target::at(&args.out)?;
    let rejects = Target::at(&rejects_path(args))?;
    if out.is_also(&rejects) {
        return Err(Failure::OutIsRejects);
    }
    for input in inputs {
        if let Source::File(input) = input {
            out.keep_apart(input)?;
            rejects.keep_apart(input)?;
        }
    }
    Ok((out, rejects))
}

/// `given.rejects.csv` beside `given.csv`, unless another place was named.
pub(super) fn rejects_path(args: &HandOut) -> PathBuf {
    let beside = || args.out.with_extension("rejects.csv");
    args.rejects.clone().unwrap_or_else(beside)
}
