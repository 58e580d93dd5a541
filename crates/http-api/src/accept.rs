//! Chooses the format of a list by the header `Accept` of the request (RFC 9110, section 12.5.1).

use actix_web::http::header::{ACCEPT, HeaderMap};

/// The format of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A page of the list, as JSON.
    Json,
    /// All rows of the list, as CSV.
    Csv,
}

/// The preference of a caller for a format. The most exact media range that includes the format decides. Preferences are compared by
/// quality, then by exactness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Preference {
    /// The quality of the media range, in thousandths.
    quality: u16,
    /// The exactness of the media range: 3 for the type itself, 2 for `type/*`, 1 for `*/*`, 0 if no range includes the format.
    exactness: u8,
}

/// Returns the format that the caller prefers. CSV is chosen if its quality is higher than the quality of JSON. With equal qualities above
/// zero, CSV is chosen if its media range is more exact. Otherwise JSON is chosen.
#[must_use]
pub fn preferred(headers: &HeaderMap) -> Format {
    let (mut json, mut csv) = (Preference::default(), Preference::default());
    for value in headers.get_all(ACCEPT).filter_map(|value| value.to_str().ok()) {
        for range in value.split(',') {
            let Some((range, quality)) = read(range) else { continue };
            note(&mut json, range, quality, ["application/json", "application/*"]);
            note(&mut csv, range, quality, ["text/csv", "text/*"]);
        }
    }
    if csv.quality > 0 && csv > json { Format::Csv } else { Format::Json }
}

/// Reads an item of `Accept` or `Accept-Encoding`. Returns the media range or the coding without its parameters, and its quality in
/// thousandths. Without a quality, an item has the quality 1,000. Returns `None` if the quality is malformed.
pub fn read(range: &str) -> Option<(&str, u16)> {
    let mut parts = range.split(';').map(str::trim);
    let range = parts.next()?;
    let quality = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
    Some((range, quality.map_or(Some(1_000), thousandths)?))
}

/// Parses a quality: a number from 0 to 1 with at most three decimals. Returns the quality in thousandths.
fn thousandths(text: &str) -> Option<u16> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let well_formed =
        matches!(whole, "0" | "1") && decimals.len() <= 3 && decimals.bytes().all(|byte| byte.is_ascii_digit());
    let value = format!("{whole}{decimals:0<3}");
    value.parse().ok().filter(|value| well_formed && *value <= 1_000)
}

/// Records the quality of a media range, if the range includes the format more exactly than the recorded range. `exact` is the media type
/// of the format, and `family` is its `type/*`.
fn note(known: &mut Preference, range: &str, quality: u16, [exact, family]: [&str; 2]) {
    let exactness = match range {
        _ if range.eq_ignore_ascii_case(exact) => 3,
        _ if range.eq_ignore_ascii_case(family) => 2,
        "*/*" => 1,
        _ => 0,
    };
    if exactness > known.exactness {
        *known = Preference { quality, exactness };
    }
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    #[test]
    fn csv_is_chosen_if_preferred_to_json() {
        for (accept, expected) in [
            ("", Format::Json),
            ("*/*", Format::Json),
            ("text/csv", Format::Csv),
            ("Text/CSV; charset=utf-8", Format::Csv),
            ("text/csv;q=0", Format::Json),
            ("text/csv;q=0.000, */*", Format::Json),
            ("text/csv, */*", Format::Csv),
            ("text/csv, */*;q=0.1", Format::Csv),
            ("text/*", Format::Csv),
            ("text/html", Format::Json),
            ("text/html,application/xhtml+xml,*/*;q=0.8", Format::Json),
            ("application/json, text/csv", Format::Json),
            ("application/json;q=0.5, text/csv;q=0.51", Format::Csv),
            ("application/json, text/csv;q=0.999", Format::Json),
            ("application/json;q=0, text/csv;q=0.001", Format::Csv),
            ("text/csv;q=2, application/json;q=0.1", Format::Json),
            ("text/csv;q=x", Format::Json),
            ("text/csv;q=1.000", Format::Csv),
            ("text/csv;q=1.001", Format::Json),
            ("text/*;q=1, text/csv;q=0.1, application/json;q=0.2", Format::Json),
        ] {
            let mut headers = HeaderMap::new();
            if let Ok(value) = HeaderValue::from_str(accept) {
                headers.insert(ACCEPT, value);
            }
            assert_eq!(preferred(&headers), expected, "{accept}");
        }
    }

    #[test]
    fn several_accept_headers_count_as_one_list() {
        let mut headers = HeaderMap::new();
        headers.append(ACCEPT, HeaderValue::from_static("application/json;q=0.3"));
        headers.append(ACCEPT, HeaderValue::from_static("text/csv;q=0.4"));
        assert_eq!(preferred(&headers), Format::Csv);
    }
}
