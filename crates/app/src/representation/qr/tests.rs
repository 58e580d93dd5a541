//! Images that are read back by a decoder.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Cursor;

use super::*;

/// A dynamic code of usual length, one of the greatest length that an acquirer may give, and a short one.
fn codes() -> [String; 3] {
    let usual = "00020101021226830014br.gov.bcb.pix2561pix.example.com/qr/v2/01h455vb4pex5vsknk084sn02q520400005303986540510.505802BR5904CAIS6009SAO PAULO62070503***6304AB12";
    let longest = usual.chars().cycle().take(512).collect();
    [usual.to_owned(), longest, "0002".to_owned()]
}

/// The picture, a byte per pixel.
fn decode(url: &str) -> (usize, Vec<u8>) {
    let file = STANDARD.decode(url.strip_prefix(URL_PREFIX).unwrap()).unwrap();
    let mut reader = png::Decoder::new(Cursor::new(file)).read_info().unwrap();
    assert_eq!((reader.info().bit_depth, reader.info().color_type), (BitDepth::One, ColorType::Grayscale));
    let mut packed = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut packed).unwrap();
    assert_eq!(frame.width, frame.height);
    let side = usize::try_from(frame.width).unwrap();
    let rows = packed.chunks(frame.line_size);
    let pixels =
        rows.flat_map(|row| (0..side).map(|x| if row.get(x / 8).unwrap() >> (7 - x % 8) & 1 == 1 { 255 } else { 0 }));
    (side, pixels.collect())
}

#[test]
fn images_scan() {
    for code in codes() {
        let (side, pixels) = decode(&data_url(&code).unwrap());
        let mut image =
            rqrr::PreparedImage::prepare_from_greyscale(side, side, |x, y| *pixels.get(y * side + x).unwrap());
        let grids = image.detect_grids();
        let (meta, content) = grids.first().unwrap().decode().unwrap();
        assert_eq!((grids.len(), content.as_str()), (1, code.as_str()));
        assert_eq!(meta.ecc_level, 0, "error correction is not level M");
        assert_eq!(side, (meta.version.to_size() + 2 * QUIET_MODULES) * PIXELS_PER_MODULE);
        let border = QUIET_MODULES * PIXELS_PER_MODULE;
        assert!(pixels.iter().take(border * side).all(|pixel| *pixel == 255), "the quiet zone is not light");
    }
}

#[test]
fn every_module_is_where_the_library_puts_it() {
    for code in codes() {
        let bits = bits::encode_auto(code.as_bytes(), EcLevel::M).unwrap();
        let side = side_of(bits.version()).unwrap();
        let ours = modules(&code).unwrap();
        assert_eq!(ours.rows.len(), usize::try_from(side).unwrap());
        // Three finder patterns, whatever the mask: seven dark modules in the first row of each.
        let finder = 0b111_1111_u128;
        assert_eq!(ours.rows.first().unwrap() & 0xff, finder);
        assert_eq!(ours.rows.last().unwrap() & 0xff, finder);
    }
}

#[test]
fn what_is_too_long_has_no_image() {
    assert!(data_url(&"x".repeat(3_000)).is_none());
    assert!(data_url(&"x".repeat(1_500)).is_none());
}

#[test]
fn a_bounded_number_of_images_is_remembered() {
    let images = QrImages::default();
    let first = images.data_url("first").unwrap();
    assert!(Arc::ptr_eq(&first, &images.data_url("first").unwrap()));
    let mut memory = images.0.lock().unwrap();
    for number in 0..REMEMBERED {
        memory.remember(number.to_string().into(), Arc::clone(&first));
        memory.remember(number.to_string().into(), Arc::clone(&first));
    }
    assert_eq!((memory.images.len(), memory.order.len()), (REMEMBERED, REMEMBERED));
    assert!(!memory.images.contains_key("first"));
}
