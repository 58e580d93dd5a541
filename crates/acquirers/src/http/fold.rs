//! Removes case and accents from Portuguese text, so that two texts can be compared.

/// Returns the text in lower case, without Portuguese accents and without surrounding blanks. An accent is removed both
/// as part of its letter and as a combining character.
pub(crate) fn folded(text: &str) -> String {
    let plain = |letter: char| match letter {
        'á' | 'à' | 'â' | 'ã' => Some('a'),
        'é' | 'ê' => Some('e'),
        'í' => Some('i'),
        'ó' | 'ô' | 'õ' => Some('o'),
        'ú' | 'ü' => Some('u'),
        'ç' => Some('c'),
        '\u{300}'..='\u{36f}' => None,
        other => Some(other),
    };
    text.trim().chars().flat_map(char::to_lowercase).filter_map(plain).collect()
}
