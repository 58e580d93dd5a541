//! A QR code of a page, in its natural size: each module has the same number of pixels.

use std::sync::Arc;

use cais_qr_code::QrImages;

/// A QR code.
pub(crate) struct Qr {
    /// The image as a data URL.
    pub(crate) url: Arc<str>,
    /// The width, which is also the height, of the image in pixels.
    pub(crate) side_px: u32,
}

impl Qr {
    /// Returns the code of a text. Returns `None` if the text is too long.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let url = QrImages::default().data_url(text)?;
        let side_px = cais_qr_code::side_px(&url)?;
        Some(Self { url, side_px })
    }
}
