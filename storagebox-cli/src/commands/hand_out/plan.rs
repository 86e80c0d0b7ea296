//! Everything that can be refused before any work is done.

use std::path::PathBuf;

use crate::cli::HandOut;
use crate::exit::Failure;
use crate::input::{Lines, Source};
use crate::output::{PendingCsv, Target};
use crate::rejects::{self, Rejects};

const HEADER: [&str; 3] = ["id", "item", "outcome"];

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
        let out = match is_standard_output(args) {
            true => None,
            false => Some(Target::at(&args.out)?),
        };
        let rejects = Target::at(&rejects_path(args))?;
        keep_apart(out.as_ref(), &rejects, items.iter().chain([&ids]))?;
        let items = match items {
            Some(items) => Some(Lines::open(&items, args.header).await?),
            None => None,
        };
        Ok(Self {
            items,
            ids: Lines::open(&ids, args.header).await?,
            out: match out {
                Some(out) => PendingCsv::create(out, HEADER)?,
                None => PendingCsv::for_standard_output(HEADER)?,
            },
            rejects: Rejects::new(rejects),
            concurrency: args.concurrency.into(),
        })
    }
}

/// No input is overwritten, and no output by the other.
fn keep_apart<'a>(
    out: Option<&Target>,
    rejects: &Target,
    inputs: impl Iterator<Item = &'a Source>,
) -> Result<(), Failure> {
    if out.is_some_and(|out| out.is_also(rejects)) {
        return Err(Failure::OutIsRejects);
    }
    for input in inputs {
        if let Source::File(input) = input {
            out.map_or(Ok(()), |out| out.keep_apart(input))?;
            rejects.keep_apart(input)?;
        }
    }
    Ok(())
}

/// Whether the answers are for standard output; the audit then goes to standard error.
pub(super) fn is_standard_output(args: &HandOut) -> bool {
    Source::named(&args.out) == Source::StandardInput
}

/// `given.rejects.csv` beside `given.csv`, unless another place was named.
pub(super) fn rejects_path(args: &HandOut) -> PathBuf {
    args.rejects.clone().unwrap_or_else(|| rejects::beside(&Source::named(&args.out)))
}
