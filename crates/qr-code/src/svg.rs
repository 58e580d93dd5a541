//! The modules of a QR code as an SVG file: one path with a rectangle for each run of dark modules, on white.

use std::fmt::Write as _;

use super::png::QUIET_MODULES;

/// Returns the image; `None` for an empty code.
pub(super) fn encode(rows: &[u128]) -> Option<String> {
    let side = u32::try_from(rows.len()).ok().filter(|side| *side > 0)?;
    let units = side + 2 * QUIET_MODULES;
    let mut file = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {units} {units}\" shape-rendering=\"crispEdges\">\
         <path fill=\"#fff\" d=\"M0 0h{units}v{units}H0z\"/><path d=\""
    );
    for (y, row) in (QUIET_MODULES..).zip(rows) {
        let (mut rest, mut x) = (*row, QUIET_MODULES);
        while rest != 0 {
            let light = rest.trailing_zeros();
            rest >>= light;
            let dark = rest.trailing_ones();
            x += light;
            // Writing to a `String` cannot fail.
            let _ = write!(file, "M{x} {y}h{dark}v1h-{dark}z");
            rest = rest.checked_shr(dark).unwrap_or_default();
            x += dark;
        }
    }
    file.push_str("\"/></svg>");
    Some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_dark_modules_are_rectangles() {
        let file = encode(&[0b0110, 0, u128::MAX]).unwrap_or_default();
        assert!(file.contains("viewBox=\"0 0 11 11\""), "{file}");
        assert!(file.ends_with("d=\"M5 4h2v1h-2zM4 6h128v1h-128z\"/></svg>"), "{file}");
        assert_eq!(encode(&[]), None);
    }

    #[test]
    fn svg_has_the_modules_of_the_code() {
        let code = "00020126580014br.gov.bcb.pix";
        let rows = crate::modules(code).unwrap_or_default();
        let file = crate::svg_file(code).unwrap_or_default();
        let dark: u32 = rows.iter().map(|row| row.count_ones()).sum();
        let runs = file.split("v1h-").filter_map(|part| part.rsplit_once('h'));
        let drawn = runs.filter_map(|(_, run)| run.parse::<u32>().ok());
        assert_eq!(drawn.sum::<u32>(), dark);
    }
}
