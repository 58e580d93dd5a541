//! Formats JSON for people. The order of the fields and the text of the numbers stay unchanged.

/// Longest data URL that is shown in full, in characters. The data URL of an image has thousands, so it is shortened.
const MAX_DATA_URL: usize = 160;
/// Characters shown of a longer data URL.
const SHOWN: usize = 60;
/// Blanks for each level.
const INDENT: usize = 2;

/// Formats JSON with one field per line, indented by `margin` blanks. Does not check that the text is JSON.
#[must_use]
pub fn pretty(json: &str, margin: usize) -> String {
    let mut out = " ".repeat(margin);
    let mut depth: usize = 0;
    let mut rest = json.trim();
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.push_str(&" ".repeat(margin + depth * INDENT));
    };
    while let Some(first) = rest.chars().next() {
        let (_, after) = rest.split_at(first.len_utf8());
        match first {
            '"' => {
                let (text, after) = rest.split_at(string_length(rest));
                out.push_str(&shortened(text));
                rest = after;
                continue;
            }
            '{' | '[' => {
                out.push(first);
                if after.trim_start().starts_with(['}', ']']) {
                    rest = after.trim_start();
                    out.extend(rest.chars().next());
                    rest = rest.get(1..).unwrap_or_default();
                    continue;
                }
                depth = depth.saturating_add(1);
                line(&mut out, depth);
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(first);
            }
            ',' => {
                out.push(first);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            blank if blank.is_whitespace() => {}
            other => out.push(other),
        }
        rest = after;
    }
    out
}

/// Returns the length of the string at the start of `text`, in bytes with both quotes.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn shortened(string: &str) -> String {
    let length = string.chars().count().saturating_sub(2);
    if !string.starts_with("\"data:") || length <= MAX_DATA_URL {
        return string.to_owned();
    }
    let begin: String = string.chars().take(SHOWN).collect();
    format!("{begin}…\" ({length} characters)")
}

#[cfg(test)]
mod tests {
    use super::pretty;

    #[test]
    fn field_order_numbers_and_strings_stay_unchanged() {
        let text = r#"{"z":10.50,"a":{"b":[1,2],"c":[],"d":{}},"s":"x, {\"y\": 1}"}"#;
        let expected = "  {\n    \"z\": 10.50,\n    \"a\": {\n      \"b\": [\n        1,\n        2\n      ],\n      \"c\": [],\n      \"d\": {}\n    },\n    \"s\": \"x, {\\\"y\\\": 1}\"\n  }";
        assert_eq!(pretty(text, 2), expected);
    }

    #[test]
    fn only_data_urls_are_shortened() {
        let image = format!("\"data:image/png;base64,{}\"", "A".repeat(500));
        assert!(pretty(&image, 0).ends_with("AAA…\" (522 characters)"));
        let code = format!("\"{}\"", "0".repeat(500));
        assert_eq!(pretty(&code, 0), code);
    }
}
