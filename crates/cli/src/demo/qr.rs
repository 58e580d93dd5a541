//! Draws a QR code in a terminal. One row of characters shows two rows of modules, which are the squares of the code.

use qrcode::{Color, EcLevel, QrCode};

/// Modules of quiet zone around the code. The standard requires four; two suffice beside other text.
const QUIET: usize = 2;

/// Draws the code of `text` in half blocks, dark on light if `colors` is set. Returns `None` if the text is too long.
#[must_use]
pub fn draw(text: &str, colors: bool) -> Option<String> {
    let code = QrCode::with_error_correction_level(text, EcLevel::L).ok()?;
    let width = code.width();
    let modules = code.to_colors();
    let is_dark = |row: usize, column: usize| {
        let inside = |at: usize| at.checked_sub(QUIET).filter(|at| *at < width);
        match (inside(row), inside(column)) {
            (Some(row), Some(column)) => modules.get(row * width + column) == Some(&Color::Dark),
            _ => false,
        }
    };
    let side = width + 2 * QUIET;
    let lines: Vec<String> = (0..side)
        .step_by(2)
        .map(|row| {
            let blocks: String =
                (0..side).map(|column| block(is_dark(row, column), is_dark(row + 1, column))).collect();
            if colors { format!("    \x1b[38;5;16;48;5;231m{blocks}\x1b[0m") } else { format!("    {blocks}") }
        })
        .collect();
    Some(lines.join("\n"))
}

const fn block(upper: bool, lower: bool) -> char {
    match (upper, lower) {
        (true, true) => '█',
        (true, false) => '▀',
        (false, true) => '▄',
        (false, false) => ' ',
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn code_is_square_with_finder_patterns() {
        // Version 1: 21 modules, 25 with the quiet zone.
        let drawn = draw("PIX", false).unwrap();
        let lines: Vec<&str> = drawn.lines().collect();
        assert_eq!(lines.len(), 13);
        assert!(lines.iter().all(|line| line.chars().count() == 4 + 25));
        assert!(lines.get(1).unwrap().starts_with("      █▀▀▀▀▀█"), "{drawn}");
    }

    #[test]
    fn text_that_is_too_long_is_not_drawn() {
        assert_eq!(draw(&"x".repeat(4_000), false), None);
    }
}
