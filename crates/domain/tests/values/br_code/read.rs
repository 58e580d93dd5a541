//! Tests which codes are accepted and which are refused when they are parsed.

use cais_domain::br_code::{BrCode, BrCodeError, crc16};

use super::{SAMPLE, sealed};

#[test]
fn checksum_matches_known_values() {
    assert_eq!(crc16(b"123456789"), 0x29B1);
    assert_eq!(crc16(b""), 0xFFFF);
    assert!(BrCode::parse(&SAMPLE.replace("1D3D", "1d3d")).is_ok());
    assert!(BrCode::parse(&format!(" {SAMPLE}\n")).is_ok());
}

#[test]
fn broken_or_ambiguous_code_is_refused() {
    let head = "000201";
    let account = "26330014br.gov.bcb.pix011112345678909";
    let middle = "5204000053039865802BR";
    let names = "5901A6001B";
    assert!(BrCode::parse(&sealed(&format!("{head}{account}{middle}{names}"))).is_ok());
    let cases = [
        ("00020126360014BR.GOV.BCB.PIX0114+5511943214321520400005303986540566.665802BR5907EMPRESA6008BRASILIA62080503***6304170E".to_owned(), BrCodeError::BrokenElement),
        ("0020101021226990014br.gov.bcb.pix5204000053039865802BR5907EMPRESA6008BRASILIA62070503***630413DF".to_owned(), BrCodeError::BrokenElement),
        (SAMPLE.replace("1D3D", "1D3E"), BrCodeError::WrongCrc),
        (SAMPLE.replace("1D3D", "1D3"), BrCodeError::BrokenElement),
        (SAMPLE.replace("1D3D", "1D3G"), BrCodeError::WrongCrc),
        (SAMPLE.replace("63041D3D", ""), BrCodeError::Missing { field: "63" }),
        (String::new(), BrCodeError::Invalid { field: "00" }),
        (sealed(&format!("{account}{head}{middle}{names}")), BrCodeError::Invalid { field: "00" }),
        (sealed(&format!("{head}{account}{middle}5901A")), BrCodeError::Missing { field: "60" }),
        (sealed(&format!("{head}{account}{middle}{names}5901C")), BrCodeError::Repeated { field: "59" }),
        (sealed(&format!("{head}{account}{account}{middle}{names}")), BrCodeError::Repeated { field: "26" }),
        (sealed(&format!("{head}{account}{}{names}", middle.replace("986", "840"))), BrCodeError::Invalid { field: "53" }),
        (sealed(&format!("{head}26080004card{middle}{names}")), BrCodeError::NotPix),
        (sealed(&format!("{head}26180014br.gov.bcb.pix{middle}{names}")), BrCodeError::KeyOrLocation),
        (sealed(&format!("{head}26450014br.gov.bcb.pix0111123456789092508host/x/y{middle}{names}")), BrCodeError::KeyOrLocation),
        (sealed(&format!("{head}{account}{middle}5403-10{names}")), BrCodeError::Invalid { field: "54" }),
        (sealed(&format!("{head}{account}{middle}54031e2{names}")), BrCodeError::Invalid { field: "54" }),
        (sealed(&format!("{head}{account}{middle}54051.005{names}")), BrCodeError::Invalid { field: "54" }),
        (sealed(&format!("{head}{account}{middle}{names}62040503")), BrCodeError::BrokenElement),
        ("0".repeat(600), BrCodeError::TooLong { field: "code", max: 512 }),
    ];
    for (text, error) in cases {
        assert_eq!(BrCode::parse(&text), Err(error), "{text}");
    }
    let bad_key = sealed(&format!("{head}26330014br.gov.bcb.pix011112345678908{middle}{names}"));
    assert!(matches!(BrCode::parse(&bad_key), Err(BrCodeError::Key(_))));
}

#[test]
fn unknown_elements_are_skipped() {
    let text = sealed(
        "00020126080004card51330014Br.Gov.Bcb.Pix0111123456789095204000053039865802BR5901A6001B80220018br.com.example.xyz",
    );
    assert!(matches!(BrCode::parse(&text), Ok(BrCode::Static(_))), "{text}");
}
