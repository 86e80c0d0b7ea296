//! Durations as people write them.

use std::time::Duration;

use storagebox::Retention;
use storagebox::bank::Hold;
use storagebox::time::checked_duration;

#[derive(Debug, thiserror::Error)]
pub(super) enum NoDuration {
    #[error("{0}; write it like 30s, 15m, 2h or 7d")]
    Unreadable(#[from] humantime::DurationError),
    #[error("{}", .0.message())]
    OutOfRange(#[from] storagebox::Error),
}

pub(super) fn hold(text: &str) -> Result<Hold, NoDuration> {
    Ok(Hold::For(any(text)?).checked()?)
}

pub(super) fn retention(text: &str) -> Result<Retention, NoDuration> {
    match text {
        "forever" => Ok(Retention::Forever),
        text => Ok(Retention::For(any(text)?).checked()?),
    }
}

pub(super) fn lease(text: &str) -> Result<Duration, NoDuration> {
    Ok(checked_duration("lease", any(text)?)?)
}

/// Parses any duration, including 0s.
pub(super) fn any(text: &str) -> Result<Duration, NoDuration> {
    Ok(humantime::parse_duration(text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_with_usual_units_are_parsed() {
        for (text, seconds) in [("30s", 30), ("15m", 900), ("2h", 7_200), ("7d", 604_800), ("1h 30m", 5_400)] {
            assert_eq!(hold(text).unwrap(), Hold::For(Duration::from_secs(seconds)), "{text}");
        }
        assert_eq!(hold("1ms").unwrap(), Hold::For(Duration::from_millis(1)));
        assert_eq!(retention("forever").unwrap(), Retention::Forever);
        assert_eq!(any("0s").unwrap(), Duration::ZERO);
    }

    #[test]
    fn an_invalid_duration_is_refused() {
        for text in ["", "soon", "30", "-1s", "30 parsecs", "99999999999999999999s"] {
            let refused = hold(text).unwrap_err();
            assert!(matches!(refused, NoDuration::Unreadable(_)), "{text}");
            assert!(refused.to_string().contains("30s, 15m, 2h or 7d"), "{refused}");
        }
        for text in ["0s", "999us", "101y"] {
            let refused = hold(text).unwrap_err();
            assert!(refused.to_string().contains("1 ms to 100 years"), "{text}: {refused}");
            assert!(lease(text).is_err() && retention(text).is_err(), "{text}");
        }
    }
}
