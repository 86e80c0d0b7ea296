//! Payloads that contain JSON.

use std::fmt::Display;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Payload;
use crate::values::error::{Error, Result};

/// The methods that the feature `json` adds.
impl Payload {
    /// Creates a payload from a value, as JSON.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if JSON cannot represent the value, such as a map whose keys are not texts; `TooLarge` for more
    /// than 256 KiB. Neither error shows the value (V-4).
    ///
    /// # Example
    ///
    /// ```
    /// use storagebox_core::Payload;
    ///
    /// let payload = Payload::json(&("paid", 12))?;
    /// assert_eq!(payload.as_bytes(), br#"["paid",12]"#);
    /// assert_eq!(payload.parse_json::<(String, u64)>()?, ("paid".to_owned(), 12));
    /// # Ok::<(), storagebox_core::Error>(())
    /// ```
    pub fn json(value: &(impl Serialize + ?Sized)) -> Result<Self> {
        let bytes = serde_json::to_vec(value);
        Self::new(bytes.map_err(|_| Error::invalid("payload", "cannot be written as JSON"))?)
    }

    /// Parses the payload as JSON.
    ///
    /// # Errors
    ///
    /// `Corrupt` if the payload is not JSON, or if its JSON does not fit the type `T`. The error has the line and the
    /// column, and never the content (V-4).
    pub fn parse_json<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_slice(self.as_bytes()).map_err(|error| unreadable(&error))
    }
}

fn unreadable(error: &serde_json::Error) -> Error {
    let why: &dyn Display = match error.classify() {
        serde_json::error::Category::Data => &"its JSON does not fit the requested type",
        _ => &"it is not JSON",
    };
    Error::corrupt("payload", why).with("line", error.line()).with("column", error.column())
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::values::error::ErrorKind;

    #[test]
    fn error_for_unreadable_json_does_not_show_the_json() {
        for (text, why) in
            [("\"hunter2\"", "does not fit the requested type"), ("hunter2", "not JSON"), ("", "not JSON")]
        {
            let error = Payload::new(text).unwrap().parse_json::<u64>().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt);
            let shown = format!("{error} {error:?}");
            assert!(shown.contains(why) && !shown.contains("hunter2"), "{shown}");
        }
    }

    #[test]
    fn value_without_a_json_form_is_refused() {
        let error = Payload::json(&HashMap::from([((1, 2), 3)])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        let error = Payload::json(&"x".repeat(crate::MAX_PAYLOAD_BYTES)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge);
    }
}
