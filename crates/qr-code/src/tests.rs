//! Tests that a decoder reads the images.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Cursor;

use ::png::{BitDepth, ColorType, DecodeOptions, Decoder, DecodingError};

use super::*;

/// Returns a dynamic code of usual length, a code of the greatest length that acquirers issue, and a short code.
fn codes() -> [String; 3] {
    let usual = "00020101021226830014br.gov.bcb.pix2561pix.example.com/qr/v2/01h455vb4pex5vsknk084sn02q520400005303986540510.505802BR5904CAIS6009SAO PAULO62070503***6304AB12";
    let longest = usual.chars().cycle().take(512).collect();
    [usual.to_owned(), longest, "0002".to_owned()]
}

/// Decodes a PNG and checks every checksum. Returns the number of pixels of a side, and one byte per pixel.
pub(super) fn decode(file: &[u8]) -> Result<(usize, Vec<u8>), DecodingError> {
    let mut options = DecodeOptions::default();
    options.set_ignore_checksums(false);
    let mut reader = Decoder::new_with_options(Cursor::new(file), options).read_info()?;
    assert_eq!((reader.info().bit_depth, reader.info().color_type), (BitDepth::One, ColorType::Grayscale));
    let mut packed = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut packed)?;
    reader.finish()?;
    assert_eq!(frame.width, frame.height);
    let side = usize::try_from(frame.width).unwrap();
    let rows = packed.chunks(frame.line_size);
    let pixels =
        rows.flat_map(|row| (0..side).map(|x| if row.get(x / 8).unwrap() >> (7 - x % 8) & 1 == 1 { 255 } else { 0 }));
    Ok((side, pixels.collect()))
}

#[test]
fn decoder_reads_the_text_of_each_image() {
    for code in codes() {
        let url = data_url(&code).unwrap();
        let file = STANDARD.decode(url.strip_prefix(URL_PREFIX).unwrap()).unwrap();
        assert_eq!(png_file(&code).unwrap(), file);
        let (side, pixels) = decode(&file).unwrap();
        let mut image =
            rqrr::PreparedImage::prepare_from_greyscale(side, side, |x, y| *pixels.get(y * side + x).unwrap());
        let grids = image.detect_grids();
        let (meta, content) = grids.first().unwrap().decode().unwrap();
        assert_eq!((grids.len(), content.as_str()), (1, code.as_str()));
        assert_eq!(meta.ecc_level, 0, "error correction is not level M");
        let (quiet, module) = (4, 4);
        assert_eq!(side, (meta.version.to_size() + 2 * quiet) * module);
        let border = quiet * module;
        assert!(pixels.iter().take(border * side).all(|pixel| *pixel == 255), "the quiet zone is not light");
    }
}

#[test]
fn image_of_a_usual_code_is_small() {
    let [usual, ..] = codes();
    let length = data_url(&usual).unwrap().len();
    // With a general compressor of equal speed, the image has 2,500 characters.
    assert!(length < 800, "{length} characters");
}

#[test]
fn side_of_an_image_is_four_pixels_per_module() {
    for code in codes() {
        let side = modules(&code).unwrap().len() + 8;
        let image = data_url(&code).unwrap();
        assert_eq!(side_px(&image).map(usize::try_from), Some(Ok(4 * side)));
    }
    assert_eq!(side_px("data:image/png;base64,iVBORw0KGgo="), None);
}

#[test]
fn text_that_is_too_long_has_no_image() {
    assert!(data_url(&"x".repeat(3_000)).is_none());
    assert!(data_url(&"x".repeat(1_500)).is_none());
}

#[test]
fn cached_images_are_bounded() {
    let images = QrImages::default();
    let first = images.data_url("first").unwrap();
    assert!(Arc::ptr_eq(&first, &images.data_url("first").unwrap()));
    let mut cache = images.0.lock().unwrap();
    for number in 0..MAX_IMAGES {
        cache.insert(number.to_string().into(), Arc::clone(&first));
        cache.insert(number.to_string().into(), Arc::clone(&first));
    }
    assert_eq!((cache.images.len(), cache.order.len()), (MAX_IMAGES, MAX_IMAGES));
    assert!(!cache.images.contains_key("first"));
}
