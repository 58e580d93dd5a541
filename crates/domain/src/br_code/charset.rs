//! The characters that the institutions of all payers accept in the texts of a BR Code.

/// The punctuation that the BR Code manual permits, in addition to letters, digits and the blank.
const PUNCTUATION: &str = "$%*+-./:";

/// Removes accents, drops characters that are not permitted, joins consecutive blanks, and keeps at most `max`
/// characters.
pub(super) fn clean(text: &str, max: usize) -> String {
    let folded: String = text.chars().filter_map(fold).collect();
    let joined = folded.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    joined.chars().take(max).collect::<String>().trim_end().to_owned()
}

/// Returns the permitted character for this character, if there is one. Combining accents have none.
fn fold(character: char) -> Option<char> {
    let allowed = |character: &char| character.is_ascii_alphanumeric() || PUNCTUATION.contains(*character);
    match character {
        'À'..='Å' | 'Ā' | 'Ă' | 'Ą' => Some('A'),
        'à'..='å' | 'ā' | 'ă' | 'ą' | 'ª' => Some('a'),
        'Ç' | 'Ć' | 'Č' => Some('C'),
        'ç' | 'ć' | 'č' => Some('c'),
        'È'..='Ë' | 'Ē' | 'Ę' | 'Ě' => Some('E'),
        'è'..='ë' | 'ē' | 'ę' | 'ě' => Some('e'),
        'Ì'..='Ï' | 'Ī' => Some('I'),
        'ì'..='ï' | 'ī' => Some('i'),
        'Ñ' | 'Ń' => Some('N'),
        'ñ' | 'ń' => Some('n'),
        'Ò'..='Ö' | 'Ø' | 'Ō' | 'Ő' => Some('O'),
        'ò'..='ö' | 'ø' | 'ō' | 'ő' | 'º' => Some('o'),
        'Š' | 'Ś' => Some('S'),
        'š' | 'ś' => Some('s'),
        'Ù'..='Ü' | 'Ū' | 'Ű' => Some('U'),
        'ù'..='ü' | 'ū' | 'ű' => Some('u'),
        'Ý' | 'Ÿ' => Some('Y'),
        'ý' | 'ÿ' => Some('y'),
        'Ž' | 'Ź' | 'Ż' => Some('Z'),
        'ž' | 'ź' | 'ż' => Some('z'),
        blank if blank.is_whitespace() => Some(' '),
        other => Some(other).filter(allowed),
    }
}
