//! Renders a text as a QR code in a small PNG, fast enough for every response.
//!
//! [`QrImages`] returns images as data URLs and caches recent ones. [`png_file`] and [`svg_file`] return files.
//! `layout` draws the common parts of a version (a size of QR codes, here at most 27) once. `mask` computes the
//! penalties of masks on whole rows of bits. `png` and `deflate` write the image with a code table made for QR codes.
//! ADR 0019 (`docs/adr`) has the measurements.

mod deflate;
mod layout;
mod mask;
mod png;
mod svg;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use qrcode::{bits, ec};

use self::layout::{LEVEL, Layout};

/// The prefix of a data URL of a PNG.
const URL_PREFIX: &str = "data:image/png;base64,";
/// The largest number of cached images. At about 1 KiB each, they need some 2 MiB.
const MAX_IMAGES: usize = 2_048;

/// A cache of recent images. Lists and repeated reads of charges show the same codes again.
#[derive(Debug, Default)]
pub struct QrImages(Mutex<Cache>);

#[derive(Debug, Default)]
struct Cache {
    images: HashMap<Arc<str>, Arc<str>>,
    /// The cached texts in the order of insertion. The first is removed first.
    order: VecDeque<Arc<str>>,
}

impl QrImages {
    /// Returns the QR code of the text `code` as a data URL. Returns `None` if the text is too long for version 27.
    #[must_use]
    pub fn data_url(&self, code: &str) -> Option<Arc<str>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).images.get(code).cloned();
        if known.is_some() {
            return known;
        }
        // The image is rendered outside the lock. Two callers may render the same image, but they do not wait for each
        // other.
        let image: Arc<str> = data_url(code)?.into();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(code.into(), Arc::clone(&image));
        Some(image)
    }
}

impl Cache {
    fn insert(&mut self, code: Arc<str>, image: Arc<str>) {
        if self.images.insert(Arc::clone(&code), image).is_some() {
            return;
        }
        self.order.push_back(code);
        if self.order.len() > MAX_IMAGES
            && let Some(oldest) = self.order.pop_front()
        {
            self.images.remove(&oldest);
        }
    }
}

/// Returns the QR code of the text `code` as a PNG file. Returns `None` if the text is too long for version 27.
#[must_use]
pub fn png_file(code: &str) -> Option<Vec<u8>> {
    png::encode(&modules(code)?)
}

/// Returns the QR code of the text `code` as an SVG file. Returns `None` if the text is too long for version 27.
#[must_use]
pub fn svg_file(code: &str) -> Option<String> {
    svg::encode(&modules(code)?)
}

/// Returns the side in pixels of an image that [`QrImages::data_url`] returned.
#[must_use]
pub fn side_px(image: &str) -> Option<u32> {
    // The width is in the bytes 16 to 19 of the PNG file. The base64 characters 20 to 27 decode to the bytes 15 to 20.
    let bytes = STANDARD.decode(image.strip_prefix(URL_PREFIX)?.get(20..28)?).ok()?;
    Some(u32::from_be_bytes(bytes.get(1..5)?.try_into().ok()?))
}

fn data_url(code: &str) -> Option<String> {
    let file = png_file(code)?;
    let mut url = String::with_capacity(URL_PREFIX.len() + 4 * file.len().div_ceil(3));
    url.push_str(URL_PREFIX);
    STANDARD.encode_string(file, &mut url);
    Some(url)
}

/// Returns the rows of the QR code of the text `code`, in the smallest version that fits. Bit `x` is set if the module
/// in column `x` is dark.
fn modules(code: &str) -> Option<Vec<u128>> {
    let bits = bits::encode_auto(code.as_bytes(), LEVEL).ok()?;
    let version = bits.version();
    let layout = Layout::of(version)?;
    let (mut codewords, correction) = ec::construct_codewords(&bits.into_bytes(), version, LEVEL).ok()?;
    codewords.extend_from_slice(&correction);
    Some(mask::choose(&layout.masked, &layout.place(&codewords)))
}

#[cfg(test)]
mod tests;
