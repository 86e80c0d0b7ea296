//! Parses times as other programs print them. Refuses a time that it cannot parse exactly.

use jiff::Timestamp;
use jiff::fmt::temporal::Pieces;

/// The largest offset from UTC, in seconds.
const FURTHEST: i32 = 18 * 3_600;

/// A stamp as the user wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// A number, whose unit the namespace determines.
    Number(i64),
    /// A time, in milliseconds since 1970.
    Time(i64),
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoStamp {
    #[error("it is no time such as 2024-07-23T21:11:00.000Z, and no whole number")]
    Unreadable,
    #[error("it has no zone; end it with Z, or with the offset of its clock, such as +02:00")]
    Local,
    #[error("it names a time zone; write the offset without the name")]
    Named,
    #[error("it has the second 60, a leap second; write the next second")]
    SixtySeconds,
    #[error("it is finer than a millisecond; write three digits after the seconds")]
    TooFine,
    #[error("it is before 1970")]
    Before1970,
}

/// Parses a time or a whole number.
pub(super) fn at(text: &str) -> Result<At, NoStamp> {
    match text.parse() {
        Ok(number) => Ok(At::Number(number)),
        Err(_) => time(text).map(At::Time),
    }
}

fn time(text: &str) -> Result<i64, NoStamp> {
    if !is_written_out(text) {
        return Err(NoStamp::Unreadable);
    }
    if text.contains('[') {
        return Err(NoStamp::Named);
    }
    // jiff parses second 60 as second 59.
    if text.as_bytes().get(16..19) == Some(b":60") {
        return Err(NoStamp::SixtySeconds);
    }
    millis(text)
}

fn millis(text: &str) -> Result<i64, NoStamp> {
    let pieces = Pieces::parse(text).map_err(|_| NoStamp::Unreadable)?;
    let time = pieces.time().ok_or(NoStamp::Unreadable)?;
    let offset = pieces.to_numeric_offset().ok_or(NoStamp::Local)?;
    if offset.seconds().abs() > FURTHEST {
        return Err(NoStamp::Unreadable);
    }
    let instant = offset.to_timestamp(pieces.date().to_datetime(time)).map_err(|_| NoStamp::Unreadable)?;
    match (instant < Timestamp::UNIX_EPOCH, instant.subsec_nanosecond() % 1_000_000) {
        (true, _) => Err(NoStamp::Before1970),
        (false, 0) => Ok(instant.as_millisecond()),
        (false, _) => Err(NoStamp::TooFine),
    }
}

/// Returns whether the text has hyphens and a colon at the positions of `2024-07-23T21:11`.
fn is_written_out(text: &str) -> bool {
    let text = text.as_bytes();
    [(4, b'-'), (7, b'-'), (13, b':')].into_iter().all(|(place, sign)| text.get(place) == Some(&sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The time 2024-07-23T21:11:00Z in milliseconds since 1970.
    const NOON: i64 = 1_721_769_060_000;

    #[track_caller]
    fn are_read(program: &str, texts: &[(&str, i64)]) {
        for (text, millis) in texts {
            assert_eq!(at(text), Ok(At::Time(*millis)), "{program}: {text}");
        }
    }

    #[track_caller]
    fn are_refused(program: &str, texts: &[(&str, NoStamp)]) {
        for (text, why) in texts {
            assert_eq!(at(text).as_ref(), Err(why), "{program}: {text}");
        }
    }

    use NoStamp::{Before1970, Local, Named, SixtySeconds, TooFine, Unreadable};

    #[test]
    fn output_of_date_is_read_exactly_or_refused() {
        are_read(
            "date",
            &[
                ("2024-07-23T21:11:00Z", NOON),
                ("2024-07-23T21:11:00.123Z", NOON + 123),
                ("2024-07-23T23:11:00+02:00", NOON),
                ("2024-07-23T23:11:00+0200", NOON),
                ("2024-07-23 21:11:00+00:00", NOON),
                ("2024-07-23T21:11:00,120000000+00:00", NOON + 120),
                ("2024-07-23T21:11+00:00", NOON),
            ],
        );
        are_refused(
            "date",
            &[
                ("Tue Jul 23 21:11:00 UTC 2024", Unreadable),
                ("Tue, 23 Jul 2024 21:11:00 +0000", Unreadable),
                ("2024-07-23", Unreadable),
                ("2024-07-23T21:11:00", Local),
                ("2024-07-23 21:11:00", Local),
                ("2024-07-23T21+00:00", Unreadable),
                ("2024-07-23T21:11:00,123456789+00:00", TooFine),
                // Output of a `date` without %N.
                ("2024-07-23T21:11:00.3NZ", Unreadable),
                ("1721769060N", Unreadable),
                ("2024-07-23 21:11:00 UTC", Unreadable),
                ("20240723T211100Z", Unreadable),
                ("", Unreadable),
                ("soon", Unreadable),
            ],
        );
    }

    #[test]
    fn output_of_python_is_read_exactly_or_refused() {
        are_read("isoformat", &[("2024-07-23T21:11:00+00:00", NOON), ("2024-07-23T21:11:00.123000+00:00", NOON + 123)]);
        are_refused(
            "str, isoformat, time.time",
            &[
                ("2024-07-23 21:11:00.123456", Local),
                ("2024-07-23T21:11:00.123456+00:00", TooFine),
                ("1721769060.123", Unreadable),
                ("Tue Jul 23 21:11:00 2024", Unreadable),
            ],
        );
    }

    #[test]
    fn output_of_javascript_is_read_exactly_or_refused() {
        are_read("toISOString", &[("2024-07-23T21:11:00.007Z", NOON + 7)]);
        are_refused(
            "toString, toLocaleString, toISOString of a far year",
            &[
                ("Tue Jul 23 2024 21:11:00 GMT+0000 (Coordinated Universal Time)", Unreadable),
                ("7/23/2024, 9:11:00 PM", Unreadable),
                ("23.7.2024, 21:11:00", Unreadable),
                ("+012024-07-23T21:11:00.000Z", Unreadable),
                ("Invalid Date", Unreadable),
                ("NaN", Unreadable),
            ],
        );
    }

    #[test]
    fn output_of_java_is_read_exactly_or_refused() {
        are_read(
            "Instant, OffsetDateTime",
            &[
                ("2024-07-23T21:11:00Z", NOON),
                ("2024-07-23T21:11:00.500Z", NOON + 500),
                ("2024-07-23T21:11Z", NOON),
                ("2024-07-24T02:41+05:30", NOON),
            ],
        );
        are_refused(
            "Instant, ZonedDateTime, LocalDateTime, Date, java.sql.Timestamp",
            &[
                ("2024-07-23T21:11:00.123456Z", TooFine),
                ("2024-07-23T21:11:00.123456789Z", TooFine),
                ("2024-07-23T23:11+02:00[Europe/Berlin]", Named),
                ("2024-07-23T21:11:00+05:00[Europe/Berlin]", Named),
                ("2024-07-23T21:11", Local),
                ("Tue Jul 23 21:11:00 UTC 2024", Unreadable),
                ("2024-07-23 21:11:00.0", Local),
            ],
        );
    }

    #[test]
    fn output_of_postgresql_is_read_exactly_or_refused() {
        are_read(
            "timestamptz",
            &[
                ("2024-07-23 21:11:00+00", NOON),
                ("2024-07-23 21:11:00.12+00", NOON + 120),
                ("2024-07-24 02:41:00+05:30", NOON),
                ("2024-07-23 17:11:00-04", NOON),
            ],
        );
        are_refused(
            "timestamptz, timestamp, epoch",
            &[
                ("2024-07-23 21:11:00.123456+00", TooFine),
                ("2024-07-23 21:11:00", Local),
                ("1721769060.000000", Unreadable),
                ("infinity", Unreadable),
                ("0044-03-15 12:00:00+00 BC", Unreadable),
                ("23.07.2024 23:11:00 CEST", Unreadable),
            ],
        );
    }

    #[test]
    fn output_of_spreadsheets_is_refused() {
        are_refused(
            "Excel, Calc, Sheets",
            &[
                ("45496.8826388889", Unreadable),
                ("45496,8826388889", Unreadable),
                ("7/23/2024 21:11", Unreadable),
                ("23.07.2024 21:11:00", Unreadable),
                ("2024-07-23 21:11:00", Local),
                ("2024/07/23 21:11:00", Unreadable),
            ],
        );
    }

    #[test]
    fn a_text_that_is_no_instant_is_refused() {
        are_refused(
            "nobody",
            &[
                ("2024-12-31T23:59:60Z", SixtySeconds),
                ("2024-12-31T23:59:60", SixtySeconds),
                ("2024-12-31T23:59:61Z", Unreadable),
                ("2024-07-23T24:00:00Z", Unreadable),
                ("2024-07-23T21:60:00Z", Unreadable),
                ("2024-02-30T00:00:00Z", Unreadable),
                ("2023-02-29T00:00:00Z", Unreadable),
                ("2024-13-01T00:00:00Z", Unreadable),
                ("2024-07-23T21:11:00+25:00", Unreadable),
                ("2024-07-23T21:11:00+19:00", Unreadable),
                ("2024-07-23T21:11:00+01:60", Unreadable),
                ("2024-07-23T21:11:00Z ", Unreadable),
                (" 2024-07-23T21:11:00Z", Unreadable),
                ("2024-07-23T21:11:00Z\n", Unreadable),
                ("2024-07-23T21:11:00ZZ", Unreadable),
                ("1969-12-31T23:59:59.999Z", Before1970),
                ("1970-01-01T00:00:00+01:00", Before1970),
                ("0001-01-01T00:00:00Z", Before1970),
                ("99999999999999999999", Unreadable),
                ("1.5", Unreadable),
                ("1e3", Unreadable),
                ("1_000", Unreadable),
                (" 5", Unreadable),
            ],
        );
        are_read("nobody", &[("1970-01-01T00:00:00Z", 0), ("9999-01-01T00:00:00Z", 253_370_764_800_000)]);
    }

    #[test]
    fn a_whole_number_is_read_as_a_number() {
        for (text, number) in [("1721769060000", NOON), ("-7", -7), ("0", 0), ("20240723211100", 20_240_723_211_100)] {
            assert_eq!(at(text), Ok(At::Number(number)), "{text}");
        }
    }

    #[test]
    fn fuzz_no_parsed_time_is_before_1970() {
        storagebox_fuzz::texts(&["2024-07-23T21:11:00.123+02:00", "1721769060000", "2024-12-31 23:59:60Z"], |text| {
            if let Ok(At::Time(millis)) = at(text) {
                assert!(millis >= 0, "{text}");
            }
        });
    }
}
