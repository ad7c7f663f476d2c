//! A moment as a person types it: a length of time ago, a date, a date and a time. Asks no clock.

use bursar_policy::quantity::Span;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// The Unix second that `text` names, seen from `now_s`; a date without a zone is one of this machine's zone.
///
/// # Errors
///
/// One sentence.
pub(super) fn read(text: &str, now_s: u64) -> Result<u64, String> {
    if let Ok(span) = text.parse::<Span>() {
        return Ok(now_s.saturating_sub(span.secs()));
    }
    let at = text.parse::<Timestamp>().ok().or_else(|| {
        let at = text.parse::<DateTime>().ok()?;
        Some(at.to_zoned(TimeZone::system()).ok()?.timestamp())
    });
    at.and_then(|at| u64::try_from(at.as_second()).ok()).ok_or_else(|| {
        format!("`--since {}` is no moment; write `7d`, `2026-11-01` or `2026-11-01T10:00:00Z`", text.escape_debug())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_as_people_write_them() {
        assert_eq!(read("7d", 1_000_000), Ok(1_000_000 - 7 * 86_400));
        assert_eq!(read("90m", 60), Ok(0));
        assert_eq!(read("1970-01-02T00:00:00Z", 0), Ok(86_400));
        assert_eq!(read("1970-01-02T02:00:00+02:00", 0), Ok(86_400));
        let day = read("2026-11-01", 0).unwrap();
        assert_eq!(read("2026-11-01T10:00", 0).unwrap() - day, 36_000);
        for text in ["", "yesterday", "7", "2026-13-01", "1969-01-01T00:00:00Z"] {
            assert!(read(text, 0).unwrap_err().contains("--since"), "{text}");
        }
    }
}
