//! Reports of a run, for people and programs, and in files.

use std::path::PathBuf;

use storagebox_conformance::{Certificate, Judgement};

use crate::answer::line;
use crate::exit::{Exit, Failure};
use crate::terminal;

pub(super) fn give(certificate: &Certificate, reports: &[PathBuf], as_json: bool) -> Result<(), Failure> {
    for path in reports {
        let written = certificate.write(path);
        written.map_err(|source| Failure::Write { path: path.clone(), source })?;
    }
    let text = match as_json {
        true => certificate.to_json().map_err(|error| Failure::Print(error.into()))?,
        false => certificate.to_text(),
    };
    line(&mut terminal::stdout(as_json), text.trim_end())
}

pub(super) fn exit(certificate: &Certificate) -> Result<Exit, Failure> {
    match certificate.judgement() {
        Judgement::Conforms { .. } => Ok(Exit::Done),
        Judgement::Open { .. } | Judgement::Smoke { .. } => Ok(Exit::Nothing),
        judgement @ Judgement::Broken { .. } => Err(Failure::DoesNotConform(judgement.to_string())),
    }
}
