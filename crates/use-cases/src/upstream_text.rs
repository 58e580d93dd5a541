//! Converts texts and instants from acquirers for storage and display.

use jiff::Timestamp;

/// The longest stored text from an acquirer, in characters.
const MAX_TEXT: usize = 200;

/// Returns `text` without control characters, cut to [`MAX_TEXT`] characters. Stores refuse control characters.
pub(crate) fn plain(text: &str) -> String {
    let kept: String = text.chars().filter(|character| !character.is_control()).take(MAX_TEXT).collect();
    kept.trim().to_owned()
}

/// Cuts `text` to `max_chars` characters and keeps its line breaks. Other control characters become spaces.
pub(crate) fn long(text: &str, max_chars: usize) -> String {
    let kept = text.chars().map(|character| if character.is_control() && character != '\n' { ' ' } else { character });
    kept.take(max_chars).collect::<String>().trim().to_owned()
}

/// Truncates an instant to whole microseconds, the precision of the stores. So a stored instant equals the same instant
/// when it is reported again.
pub(crate) fn whole_microseconds(at: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(at.as_microsecond()).unwrap_or(at)
}
