//! A certificate as JSON.

use serde::Serialize;

use super::{Certificate, End, Entry};

#[derive(Serialize)]
struct Whole {
    name: String,
    verdict: String,
    level: Option<u8>,
    seed: u64,
    parts: Vec<OfPart>,
    cases: Vec<OfCase>,
}

#[derive(Serialize)]
struct OfPart {
    part: &'static str,
    level: Option<u8>,
}

#[derive(Serialize)]
struct OfCase {
    name: String,
    clause: &'static str,
    level: u8,
    end: &'static str,
    why: Option<String>,
    seconds: f64,
}

impl Certificate {
    /// Returns the whole certificate as JSON.
    ///
    /// # Errors
    ///
    /// Returns the error of the serializer.
    pub fn to_json(&self) -> serde_json::Result<String> {
        let judgement = self.judgement();
        let parts = self.parts().into_iter();
        let of_part = |(part, judgement): (crate::part::Part, super::Judgement)| OfPart {
            part: part.name(),
            level: judgement.level(),
        };
        serde_json::to_string_pretty(&Whole {
            name: self.name.clone(),
            verdict: judgement.to_string(),
            level: judgement.level(),
            seed: self.seed,
            parts: parts.map(of_part).collect(),
            cases: self.entries.iter().map(of_case).collect(),
        })
    }
}

fn of_case(entry: &Entry) -> OfCase {
    let (end, why) = match &entry.end {
        End::Held => ("held", None),
        End::Failed(why) => ("failed", Some(why.clone())),
        End::Undecided(why) => ("undecided", Some(why.clone())),
        End::Ignored(why) => ("ignored", Some(why.clone())),
        End::NotRun => ("not run", None),
    };
    OfCase {
        name: entry.case.name(),
        clause: entry.case.clause(),
        level: entry.case.family().level(),
        end,
        why,
        seconds: entry.took.as_secs_f64(),
    }
}
