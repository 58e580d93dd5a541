//! What an acquirer wrote, as it can be kept and shown.

use jiff::Timestamp;

/// The longest text of upstream that is kept, in characters.
const MAX_TEXT: usize = 200;

/// Text of upstream: bounded, without control characters, which stores refuse.
pub(crate) fn plain(text: &str) -> String {
    let kept: String = text.chars().filter(|character| !character.is_control()).take(MAX_TEXT).collect();
    kept.trim().to_owned()
}

/// The same for a text that may be long, and may have more than one line.
pub(crate) fn long(text: &str, max_chars: usize) -> String {
    let kept = text.chars().map(|character| if character.is_control() && character != '\n' { ' ' } else { character });
    kept.take(max_chars).collect::<String>().trim().to_owned()
}

/// An instant of upstream as stores keep it: what was kept compares equal with what is told again.
pub(crate) fn whole_microseconds(at: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(at.as_microsecond()).unwrap_or(at)
}
