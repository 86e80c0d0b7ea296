//! The arguments of `conform`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use storagebox_conformance::{LEVELS, Part, Profile};

/// Certify the server at a URL: run the conformance suite on it
#[derive(Debug, Args)]
#[command(after_help = about_the_run())]
pub(crate) struct Conform {
    /// URL of the server [default: that of --url or STORAGEBOX_URL]
    #[arg(value_name = "URL")]
    pub at: Option<String>,
    /// Run the cases of this part only; may be repeated
    #[arg(long = "part", value_name = "PART", value_parser = one_of(&PARTS))]
    pub parts: Vec<Part>,
    /// End the run after this many minutes: cases that have not ended by then count as not run
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub minutes: Option<u64>,
    /// How much each case does, from smoke to quick
    #[arg(long, default_value = "brief", value_parser = one_of(&PROFILES))]
    pub profile: Profile,
    /// Number of cases that run at once [default: number of processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: Option<u16>,
    /// Seed of the random numbers, to repeat a run [default: random]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// File for the certificate: .xml is JUnit, badge.json a badge, .json all, else text; may be repeated
    #[arg(long = "report", value_name = "FILE")]
    pub reports: Vec<PathBuf>,
}

fn about_the_run() -> String {
    format!(
        "Makes prefixes of keys, schemas, a table or a folder of its own and removes them at the end. Without TLS it also \
         cuts connections, by a proxy. It restarts no server, so no verdict is above L3. Exits with 0 if the server \
         conforms, with 1 if cases were left out, with 3 if it does not conform or does not answer any more.\n\n\
         Levels of a verdict: {LEVELS}."
    )
}

const PARTS: [(&str, Part); 12] = [
    ("values", Part::Values),
    ("errors", Part::Errors),
    ("store", Part::Store),
    ("bank", Part::ItemBank),
    ("deduplicator", Part::Deduplicator),
    ("dedup", Part::Dedup),
    ("token", Part::Tokens),
    ("entities", Part::Entities),
    ("joined-entities", Part::JoinedEntities),
    ("counter", Part::Counter),
    ("strategies", Part::Strategies),
    ("ordered", Part::Ordered),
];

const PROFILES: [(&str, Profile); 3] =
    [("smoke", Profile::SMOKE), ("brief", Profile::BRIEF), ("quick", Profile::QUICK)];

/// Returns a parser that accepts these names and converts a name to its value.
fn one_of<T: Clone + Send + Sync + 'static>(values: &'static [(&'static str, T)]) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(values.iter().map(|(name, _)| *name)).try_map(|text| {
        let known = values.iter().find(|(name, _)| *name == text);
        known.map(|(_, value)| value.clone()).ok_or("unknown name")
    })
}
