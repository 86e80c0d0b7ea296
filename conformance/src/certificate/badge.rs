//! A certificate as a badge.

use serde::Serialize;

use super::{Certificate, Judgement};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Badge {
    schema_version: u8,
    label: &'static str,
    message: String,
    color: &'static str,
}

impl Certificate {
    /// Returns the verdict in the endpoint schema of shields.io, which renders it as a badge.
    ///
    /// # Errors
    ///
    /// Returns the error of the serializer.
    pub fn to_badge(&self) -> serde_json::Result<String> {
        let judgement = self.judgement();
        let (message, color) = match &judgement {
            Judgement::Conforms { level, .. } if judgement.lacks().is_empty() => {
                (format!("conforms at L{level}"), "brightgreen")
            }
            Judgement::Conforms { level, left_out, without, .. } if left_out.is_empty() => {
                (format!("conforms at L{level} without {}", without.join(", ")), "green")
            }
            Judgement::Conforms { level, parts, left_out, .. } => {
                (format!("conforms at L{level} in {parts} of {} parts", parts + left_out.len()), "green")
            }
            Judgement::Broken { .. } => ("does not conform".to_owned(), "red"),
            Judgement::Open { .. } | Judgement::Smoke { .. } => ("no verdict".to_owned(), "lightgrey"),
        };
        serde_json::to_string_pretty(&Badge { schema_version: 1, label: "storagebox", message, color })
    }
}
