//! Text that an acquirer wrote, as it can be kept and shown.

/// The longest text of upstream that is kept, in characters.
const MAX_TEXT: usize = 200;

/// Text of upstream: bounded, without control characters, which stores refuse.
pub(crate) fn plain(text: &str) -> String {
    let kept: String = text.chars().filter(|character| !character.is_control()).take(MAX_TEXT).collect();
    kept.trim().to_owned()
}
