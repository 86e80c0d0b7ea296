//! `storagebox dedup run`: runs a command once per id, and gives its output and exit code to all callers.

mod child;
#[cfg(unix)]
pub(crate) mod guard;
#[cfg(not(unix))]
#[path = "no_guard.rs"]
mod guard;
mod output;
mod record;
mod stage;
#[cfg(test)]
mod tests;
#[cfg(unix)]
mod tree;
#[cfg(not(unix))]
#[path = "no_tree.rs"]
mod tree;
mod watched;

use std::fmt::Write as _;
use std::io::{self, Write};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest, Sha256};
use storagebox::{Error, Fingerprint, Ran, RunError, Store};

use crate::answer::Answer;
use crate::cli::Run;
use crate::content::write_to;
use crate::exit::{Exit, RunFailure};
use crate::interrupt::Signals;
use crate::message::{Kind, eprint_message};
use child::{Stopped, end_what_is_left};
pub(crate) use record::Ended;
use record::Output;
use stage::Stage;
pub(super) use tree::adopt_orphans;
use watched::Watched;

/// The standard output and the standard error of this program, which show the output of the command.
pub(super) struct Outputs<'a> {
    pub stdout: &'a mut (dyn Write + Send),
    pub stderr: &'a mut (dyn Write + Send),
    pub as_json: bool,
}

pub(super) async fn run(
    args: &Run,
    store: &Store,
    signals: &mut Signals,
    mut to: Outputs<'_>,
) -> Result<Exit, RunFailure> {
    let stage = Arc::default();
    let ran = heard(args, store, &stage, signals, !to.as_json).await?;
    match ran {
        Ok(Ran::Done(result)) => {
            let ended = ended(&result)?;
            let exit = to.show(args, Outcome::Ran, &ended)?;
            stage.unshown().map_or(Ok(exit), |why| Err(why_not_shown(&ended, why)))
        }
        Ok(Ran::Replayed(result)) => to.show(args, Outcome::Replayed, &ended(&result)?),
        Ok(Ran::InFlight { remaining }) => Err(RunFailure::InFlight { remaining }),
        Ok(Ran::Mismatch) => Err(RunFailure::OtherCommand),
        Ok(Ran::Fenced | Ran::Over) => Err(RunFailure::LeaseLost),
        Ok(Ran::NotKept { .. }) => Err(RunFailure::NoRun),
        Err(RunError::Work(stopped)) => to.stopped(args, stopped),
        Err(RunError::Store(error)) => Err(why_failed(error, &stage)),
    }
}

/// Runs the command to its end, or until a signal ends the run.
async fn heard(
    args: &Run,
    store: &Store,
    stage: &Arc<Stage>,
    signals: &mut Signals,
    live: bool,
) -> Result<Result<Ran, RunError<Stopped>>, RunFailure> {
    let fingerprint = fingerprint(args)?;
    let dedup = store.clone().layer(Watched::by(stage)).dedup(&args.of.name)?;
    let run = dedup.run(&args.id, |fence| child::run(args, fence, live, stage)).fingerprint(fingerprint);
    let run = run.lease(args.lease).keep(args.keep).wait(args.wait.unwrap_or(Duration::MAX));
    let mut running = pin!(run.into_future());
    loop {
        tokio::select! {
            // Handles a signal before the end of the command that the signal caused.
            biased;
            signal = signals.next() => if stage.hears(signal) {
                return Err(stage.why_interrupted());
            },
            ran = &mut running => {
                if matches!(ran, Ok(Ran::Fenced)) {
                    // Another runner may have begun.
                    stage.result_is_lost();
                    end_what_is_left(stage, || true).await;
                }
                return Ok(ran);
            }
        }
    }
}

fn fingerprint(args: &Run) -> Result<Fingerprint, Error> {
    args.fingerprint.clone().map_or_else(|| of_command_line(args), Ok)
}

/// Returns a hash of the command line.
fn of_command_line(args: &Run) -> Result<Fingerprint, Error> {
    // Hashed, because an argument may be secret or too long.
    let mut hash = Sha256::new();
    for argument in &args.command {
        let bytes = argument.as_encoded_bytes();
        // Without the lengths, the arguments `ab`, `c` and the arguments `a`, `bc` would have the same hash.
        hash.update((bytes.len() as u64).to_be_bytes());
        hash.update(bytes);
    }
    let mut hex = String::new();
    for byte in hash.finalize() {
        let _infallible = write!(hex, "{byte:02x}");
    }
    Fingerprint::new(hex)
}

fn ended(result: &storagebox::Payload) -> Result<Ended, RunFailure> {
    Ended::recorded_in(result).ok_or(RunFailure::NoRun)
}

fn why_not_shown(ended: &Ended, source: io::Error) -> RunFailure {
    let exit_code = ended.exit_code;
    match ended.output {
        Output::Kept { .. } => RunFailure::NotShown { exit_code, source },
        Output::TooLong { bytes } => RunFailure::OutputNotKept { exit_code, bytes },
    }
}

fn why_failed(error: Error, stage: &Stage) -> RunFailure {
    match stage.exit_code() {
        Some(exit_code) => RunFailure::NotRecorded { exit_code, failure: Box::new(error.into()) },
        None => error.into(),
    }
}

/// How a caller got the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Ran,
    Replayed,
    /// The command ran here and failed, and failures are not recorded.
    NotRecorded,
}

impl Outcome {
    fn name(self) -> &'static str {
        match self {
            Self::Ran => "ran",
            Self::Replayed => "replayed",
            Self::NotRecorded => "not_recorded",
        }
    }
}

impl Outputs<'_> {
    fn stopped(&mut self, args: &Run, stopped: Stopped) -> Result<Exit, RunFailure> {
        Err(match stopped {
            Stopped::Failed(ended) => return self.show(args, Outcome::NotRecorded, &ended),
            Stopped::Spawn(source) => {
                let command = args.command.first().map(|program| program.display().to_string());
                RunFailure::Spawn { command: command.unwrap_or_default(), source }
            }
            Stopped::Follow(error) => RunFailure::Follow(error),
            Stopped::Record(error) => error.into(),
            Stopped::Interrupted(status) => RunFailure::Interrupted(status),
            Stopped::BySignal(status) => RunFailure::BySignal(status),
        })
    }

    fn show(&mut self, args: &Run, outcome: Outcome, ended: &Ended) -> Result<Exit, RunFailure> {
        let exit = Exit::Of(ended.exit_code);
        match &ended.output {
            Output::Kept { .. } => {}
            Output::TooLong { bytes } if outcome == Outcome::Replayed => {
                return Err(RunFailure::OutputNotKept { exit_code: ended.exit_code, bytes: *bytes });
            }
            Output::TooLong { bytes } => warn_of_length(*bytes),
        }
        if self.as_json {
            let answer = Answer::new(exit).text("namespace", &args.of.name).text("id", &args.id);
            let answer = ended.shown(answer.word("outcome", outcome.name()));
            return answer.print(self.stdout, true).map_err(RunFailure::other);
        }
        match (&ended.output, outcome) {
            (Output::Kept { stdout, stderr }, Outcome::Replayed) => self.replay(stdout, stderr).map(|()| exit),
            // The output was shown while the command wrote it.
            _ => Ok(exit),
        }
    }

    fn replay(&mut self, stdout: &[u8], stderr: &[u8]) -> Result<(), RunFailure> {
        write_to(self.stdout, stdout).and_then(|()| write_to(self.stderr, stderr)).map_err(RunFailure::other)
    }
}

fn warn_of_length(bytes: u64) {
    let what = "more than a record holds: later callers get an error in its place";
    eprint_message(Kind::Warning, format_args!("the command wrote {bytes} bytes, {what}"));
}
