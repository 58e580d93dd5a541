//! Converts texts and instants from acquirers for storage and display.

use jiff::Timestamp;

/// The longest stored text from an acquirer, in characters.
const MAX_TEXT: usize = 200;

/// Returns a bounded text without control characters, because stores refuse them.
pub(crate) fn plain(text: &str) -> String {
    let kept: String = text.chars().filter(|character| !character.is_control()).take(MAX_TEXT).collect();
    kept.trim().to_owned()
}

/// Does the same as [`plain`] for a text that may be long and have line breaks.
pub(crate) fn long(text: &str, max_chars: usize) -> String {
    let kept = text.chars().map(|character| if character.is_control() && character != '\n' { ' ' } else { character });
    kept.take(max_chars).collect::<String>().trim().to_owned()
}

/// Truncates an instant to whole microseconds, as stores keep it, so that a stored instant equals a repeated report.
pub(crate) fn whole_microseconds(at: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(at.as_microsecond()).unwrap_or(at)
}
