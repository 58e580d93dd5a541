//! Writes the table of a run between two marks of a Markdown page.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::{Report, table};

const BEGIN: &str = "<!-- figures begin -->";
const END: &str = "<!-- figures end -->";

/// Replaces the text between the marks.
///
/// # Errors
/// If the page cannot be read or written, or has no marks.
pub fn write_into(page: &Path, report: &Report) -> Result<()> {
    let text = fs::read_to_string(page).with_context(|| page.display().to_string())?;
    let replaced = replace(&text, &figures(report)).with_context(|| format!("{} has no marks", page.display()))?;
    fs::write(page, replaced).with_context(|| page.display().to_string())
}

fn figures(report: &Report) -> String {
    let run = if report.quick { "the short run, whose figures are rough" } else { "the full run" };
    format!("Taken on: {}; {run}, {} s.\n\n{}", report.machine.line(), report.took_s, table(&report.lines))
}

fn replace(text: &str, figures: &str) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n\n{figures}\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_between_the_marks_is_replaced() {
        let page = format!("# A\n{BEGIN}\nold\n{END}\nB\n");
        assert_eq!(replace(&page, "new\n"), Some(format!("# A\n{BEGIN}\n\nnew\n\n{END}\nB\n")));
        assert_eq!(replace("# A\n", "new"), None);
    }
}
