//! Reads two parts of a receiver's answer, within limits: the beginning of the body, and the header `Retry-After`.

use std::time::Duration;

use cais_domain::merchant::webhook::MAX_RETRY_AFTER;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use reqwest::Response;
use reqwest::header::{HeaderMap, RETRY_AFTER};

/// The largest number of bytes read of a body. A usual error page is shorter, so it is read to its end, and the
/// connection can be reused.
const MAX_READ_BYTES: usize = 16 * 1024;
/// The largest number of bytes stored of a body.
const MAX_KEPT_BYTES: usize = 2 * 1024;
/// The three formats of a date in a header (RFC 9110, 5.6.7).
const HTTP_DATES: [&str; 3] = ["%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"];

/// Returns the beginning of the body as a text of at most [`MAX_KEPT_BYTES`]. Reading stops after `budget`, at an
/// error, or after [`MAX_READ_BYTES`]. Returns `None` if the text is empty.
pub(crate) async fn beginning(mut response: Response, budget: Duration) -> Option<String> {
    let mut read = Vec::new();
    // The bytes read so far are kept, even after an error or a timeout.
    drop(tokio::time::timeout(budget, read_some(&mut response, &mut read)).await);
    let kept = kept(&read);
    (!kept.is_empty()).then_some(kept)
}

async fn read_some(response: &mut Response, read: &mut Vec<u8>) {
    while let Ok(Some(chunk)) = response.chunk().await {
        let room = MAX_READ_BYTES.saturating_sub(read.len());
        read.extend(chunk.iter().take(room));
        if chunk.len() > room {
            return;
        }
    }
}

/// Returns at most [`MAX_KEPT_BYTES`] of a text, cut between two characters. Line breaks and tabs become blanks. Other
/// control characters are removed, because a database may reject them and a terminal may execute them.
fn kept(bytes: &[u8]) -> String {
    let mut kept = String::new();
    for character in String::from_utf8_lossy(bytes).chars() {
        let character = if matches!(character, '\n' | '\r' | '\t') { ' ' } else { character };
        if kept.len().saturating_add(character.len_utf8()) > MAX_KEPT_BYTES {
            break;
        }
        if !character.is_control() {
            kept.push(character);
        }
    }
    kept
}

/// Returns the pause after `at` that the header `Retry-After` requests, at most [`MAX_RETRY_AFTER`]. Returns `None` if
/// the header is missing or invalid, or requests no pause.
pub(crate) fn retry_after(headers: &HeaderMap, at: Timestamp) -> Option<SignedDuration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let requested = match seconds(text) {
        Some(seconds) => seconds,
        None => date(text)?.duration_since(at),
    };
    requested.is_positive().then_some(requested.min(MAX_RETRY_AFTER))
}

/// Parses a number of seconds. A number beyond the range of the type is valid and becomes the largest value.
fn seconds(text: &str) -> Option<SignedDuration> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| SignedDuration::from_secs(text.parse().unwrap_or(i64::MAX)))
}

fn date(text: &str) -> Option<Timestamp> {
    let civil = HTTP_DATES.into_iter().find_map(|format| DateTime::strptime(format, text).ok())?;
    // The last day of the year 9999 exceeds the range of an instant, so the largest instant is used.
    Some(TimeZone::UTC.to_timestamp(civil).unwrap_or(Timestamp::MAX))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use cais_domain::merchant::webhook::MAX_RETRY_AFTER;
    use jiff::{SignedDuration, Timestamp};
    use proptest::prelude::{any, proptest};
    use reqwest::header::{HeaderMap, HeaderValue, RETRY_AFTER};

    use super::{MAX_KEPT_BYTES, kept, retry_after};

    fn parsed(value: &[u8]) -> Option<SignedDuration> {
        let at: Timestamp = "1994-11-06T08:49:00Z".parse().unwrap();
        let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_bytes(value).unwrap())]);
        retry_after(&headers, at)
    }

    #[test]
    fn retry_after_is_parsed_as_seconds_or_date() {
        for (value, wanted_s) in [
            ("120", 120),
            (" 7 ", 7),
            ("86400", 86_400),
            ("86401", 86_400),
            ("99999999999999999999999", 86_400),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 37),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 37),
            ("Sun Nov  6 08:49:37 1994", 37),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 86_400),
        ] {
            assert_eq!(parsed(value.as_bytes()), Some(SignedDuration::from_secs(wanted_s)), "{value}");
        }
        assert_eq!(MAX_RETRY_AFTER, SignedDuration::from_secs(86_400));
    }

    #[test]
    fn invalid_retry_after_is_ignored() {
        for value in [
            "",
            "0",
            "-5",
            "+5",
            "1.5",
            "5s",
            "soon",
            "5, 6",
            "Sun, 06 Nov 1994 08:49:00 GMT",
            "Sun, 06 Nov 1994 08:48:59 GMT",
            "Sun, 06 Nov 1994 08:49:37 BRT",
            "Sun, 99 Nov 1994 08:49:37 GMT",
            "1994-11-06T08:49:37Z",
        ] {
            assert_eq!(parsed(value.as_bytes()), None, "{value}");
        }
        assert_eq!(parsed(b"\xff\xfe"), None);
        assert_eq!(retry_after(&HeaderMap::new(), Timestamp::UNIX_EPOCH), None);
    }

    #[test]
    fn kept_text_has_no_control_characters() {
        assert_eq!(kept(b""), "");
        assert_eq!(kept(b"a\0b\x1b[31mc\x7f\xc2\x85d"), "ab[31mcd");
        assert_eq!(kept("não\r\né\tassim ✓".as_bytes()), "não  é assim ✓");
        assert_eq!(kept(b"\xff\xfea"), "\u{fffd}\u{fffd}a");
    }

    #[test]
    fn kept_text_is_cut_at_a_character() {
        assert_eq!(kept(&[b'a'; MAX_KEPT_BYTES + 1]).len(), MAX_KEPT_BYTES);
        let odd = format!("a{}", "ç".repeat(MAX_KEPT_BYTES));
        assert_eq!(kept(odd.as_bytes()).len(), MAX_KEPT_BYTES - 1);
    }

    proptest! {
        #[test]
        fn kept_text_of_any_bytes_is_bounded(bytes in any::<Vec<u8>>(), times in 1_usize..100) {
            let kept = kept(&bytes.repeat(times));
            assert!(kept.len() <= MAX_KEPT_BYTES && !kept.chars().any(char::is_control));
        }
    }
}
