//! Checks and opens the files of a run before any work is done.

use crate::cli::HandOut;
use crate::exit::Failure;
use crate::input::{Lines, Source};
use crate::output::{PendingCsv, Reserved, Target};
use crate::rejects::Rejects;

const HEADER: [&str; 3] = ["id", "item", "outcome"];

pub(super) struct Plan {
    pub items: Option<Lines>,
    pub ids: Lines,
    pub out: PendingCsv,
    pub rejects: Rejects,
    pub concurrency: usize,
}

impl Plan {
    pub(super) async fn new(args: &HandOut, store: Reserved) -> Result<Self, Failure> {
        let items = args.items.as_deref().map(Source::named);
        let ids = Source::named(&args.ids);
        if ids == Source::StandardInput && items.as_ref() == Some(&ids) {
            return Err(Failure::StandardInputTwice);
        }
        let reserved = items.iter().chain([&ids]).try_fold(store, Reserved::and_input)?;
        let out = Target::at(&args.out, args.force, &reserved)?;
        let rejects = Rejects::at(args.rejects.as_deref(), &beside(args, &out), &reserved)?;
        if out.is_also(rejects.target()) {
            return Err(Failure::OutIsRejects);
        }
        let items = match items {
            Some(items) => Some(Lines::open(&items, args.header).await?),
            None => None,
        };
        Ok(Self {
            items,
            ids: Lines::open(&ids, args.header).await?,
            out: PendingCsv::create(out, HEADER)?,
            rejects,
            concurrency: args.concurrency.into(),
        })
    }
}

/// Returns the file beside which the list of rejected lines is written.
fn beside(args: &HandOut, out: &Target) -> Source {
    match out.is_standard_output() {
        true => Source::StandardInput,
        false => Source::named(&args.out),
    }
}
