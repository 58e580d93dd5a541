//! The QR code of a copy-and-paste code, as a PNG in a data URL.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use png::{BitDepth, ColorType, Compression, Encoder, Filter};
use qrcode::bits;
use qrcode::canvas::Canvas;
use qrcode::ec;
use qrcode::{EcLevel, Version};

use super::mask;

/// Modules of light around the code (ISO/IEC 18004, section 6.3.8).
const QUIET_MODULES: usize = 4;
/// Pixels per module and side. Four are half a byte of a picture with one bit per pixel, which is how [`pack`] works.
const PIXELS_PER_MODULE: usize = 4;
/// The row, and the column, in which a code tells its mask.
const FORMAT_LINE: i16 = 8;
/// What a data URL of a PNG begins with.
const URL_PREFIX: &str = "data:image/png;base64,";
/// Images that are remembered; at about 2 KiB each they take some 4 MiB.
const REMEMBERED: usize = 2_048;

/// The images of the codes that were asked for last: lists and repeated reads show the same ones again and again.
#[derive(Debug, Default)]
pub(super) struct QrImages(Mutex<Memory>);

#[derive(Debug, Default)]
struct Memory {
    images: HashMap<Arc<str>, Arc<str>>,
    /// The codes in the order they came in; the first is forgotten first.
    order: VecDeque<Arc<str>>,
}

impl QrImages {
    /// The image of `code` as a data URL; `None` when it is too long for a QR code that people can scan.
    pub(super) fn data_url(&self, code: &str) -> Option<Arc<str>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).images.get(code).cloned();
        if known.is_some() {
            return known;
        }
        // Rendered outside the lock: two callers may render the same image once, none waits for another.
        let image: Arc<str> = data_url(code)?.into();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remember(code.into(), Arc::clone(&image));
        Some(image)
    }
}

impl Memory {
    fn remember(&mut self, code: Arc<str>, image: Arc<str>) {
        if self.images.insert(Arc::clone(&code), image).is_some() {
            return;
        }
        self.order.push_back(code);
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.images.remove(&oldest);
        }
    }
}

fn data_url(code: &str) -> Option<String> {
    let png = png(&modules(code)?)?;
    let mut url = String::with_capacity(URL_PREFIX.len().saturating_add(png.len().saturating_mul(2)));
    url.push_str(URL_PREFIX);
    STANDARD.encode_string(png, &mut url);
    Some(url)
}

/// The modules of a QR code, a row per number: bit `x` says whether the module in column `x` is dark.
pub(super) struct Modules {
    pub(super) rows: Vec<u128>,
}

/// The code with error correction level M in the smallest version that holds it.
fn modules(code: &str) -> Option<Modules> {
    let bits = bits::encode_auto(code.as_bytes(), EcLevel::M).ok()?;
    let version = bits.version();
    let side = side_of(version)?;
    let (data, correction) = ec::construct_codewords(&bits.into_bytes(), version, EcLevel::M).ok()?;
    let mut canvas = Canvas::new(version, EcLevel::M);
    canvas.draw_all_functional_patterns();
    canvas.draw_data(&data, &correction);
    let (pattern, mut rows) = mask::choose(&canvas, side);
    canvas.apply_mask(pattern);
    // Which mask it is stands in row 8 and column 8 (section 7.9), drawn by the library together with the mask.
    for (y, row) in (0..side).zip(&mut rows) {
        *row = (*row & !(1 << FORMAT_LINE)) | (u128::from(canvas.get(FORMAT_LINE, y).is_dark()) << FORMAT_LINE);
    }
    if let Some(row) = rows.get_mut(usize::from(FORMAT_LINE.unsigned_abs())) {
        *row = self::row(side, |x| canvas.get(x, FORMAT_LINE).is_dark());
    }
    Some(Modules { rows })
}

/// Modules per side; `None` where a row does not fit in a number, far beyond the longest Pix code.
fn side_of(version: Version) -> Option<i16> {
    Some(version.width()).filter(|side| u32::try_from(*side).is_ok_and(|side| side < u128::BITS))
}

/// The bits of one row or column.
pub(super) fn row(side: i16, is_set: impl Fn(i16) -> bool) -> u128 {
    (0..side).rev().fold(0, |bits, x| (bits << 1) | u128::from(is_set(x)))
}

/// One bit per pixel, black on white.
fn png(modules: &Modules) -> Option<Vec<u8>> {
    let side = modules.rows.len().checked_add(QUIET_MODULES.checked_mul(2)?)?;
    let pixels = u32::try_from(side.checked_mul(PIXELS_PER_MODULE)?).ok()?;
    let mut file = Vec::with_capacity(2_048);
    let mut encoder = Encoder::new(&mut file, pixels, pixels);
    encoder.set_color(ColorType::Grayscale);
    encoder.set_depth(BitDepth::One);
    encoder.set_compression(Compression::Fast);
    // Rows come four at a time: the difference to the one above is nothing for three of them.
    encoder.set_filter(Filter::Up);
    let mut writer = encoder.write_header().ok()?;
    writer.write_image_data(&pack(modules, side)).ok()?;
    writer.finish().ok()?;
    Some(file)
}

/// The pixels with a light border, a bit each (1 is light), every row padded to whole bytes.
fn pack(modules: &Modules, side: usize) -> Vec<u8> {
    let blank = std::iter::repeat_n(&0_u128, QUIET_MODULES);
    let row_bytes = side.div_ceil(2);
    let mut pixels = Vec::with_capacity(row_bytes.saturating_mul(side).saturating_mul(PIXELS_PER_MODULE));
    let mut line = Vec::with_capacity(row_bytes);
    for row in blank.clone().chain(&modules.rows).chain(blank) {
        line.clear();
        let mut dark = row << QUIET_MODULES;
        for _ in 0..row_bytes {
            // Half a byte per module: the left one is the upper half.
            line.push(match dark & 0b11 {
                0b00 => 0xff,
                0b01 => 0x0f,
                0b10 => 0xf0,
                _ => 0x00,
            });
            dark >>= 2;
        }
        for _ in 0..PIXELS_PER_MODULE {
            pixels.extend_from_slice(&line);
        }
    }
    pixels
}

#[cfg(test)]
mod tests;
