//! Tests codes with a known meaning. They are parsed and written.

use cais_domain::br_code::{BrCode, DynamicCode, StaticCode};
use cais_domain::money::Money;
use cais_domain::pix_key::PixKey;

use super::SAMPLE;

/// Columns: code, key, info, amount in centavos, name, city, txid.
type StaticVector =
    (&'static str, &'static str, Option<&'static str>, Option<i64>, &'static str, &'static str, Option<&'static str>);

const STATIC: [StaticVector; 8] = [
    (SAMPLE, "123e4567-e12b-12d1-a456-426655440000", None, None, "Fulano de Tal", "BRASILIA", None),
    (
        "00020126650014br.gov.bcb.pix0119nubank@thalesog.com0220Gerado por Pix-Utils52040000530398654041.005802BR5914Thales Ogliari6009Sao Paulo62070503***63046069",
        "nubank@thalesog.com",
        Some("Gerado por Pix-Utils"),
        Some(100),
        "Thales Ogliari",
        "Sao Paulo",
        None,
    ),
    (
        "00020126330014BR.GOV.BCB.PIX01115794666323452040000530398654041.005802BR5925CLENILTON CRUZ DE ALENCAR6006MANAUS62070503***6304FA88",
        "57946663234",
        None,
        Some(100),
        "CLENILTON CRUZ DE ALENCAR",
        "MANAUS",
        None,
    ),
    (
        "00020126330014br.gov.bcb.pix011112345678909520400005303986540510.005802BR5913EMPRESA TESTE6009SAO PAULO62140510PEDIDO000163047056",
        "12345678909",
        None,
        Some(1_000),
        "EMPRESA TESTE",
        "SAO PAULO",
        Some("PEDIDO0001"),
    ),
    (
        "00020126360014br.gov.bcb.pix0114+551198765432152040000530398654040.015802BR5913EMPRESA TESTE6009SAO PAULO62070503***63048BE5",
        "+5511987654321",
        None,
        Some(1),
        "EMPRESA TESTE",
        "SAO PAULO",
        None,
    ),
    (
        "00020126530014br.gov.bcb.pix0118fulano@example.com0209Pedido 4252040000530398654071234.565802BR5913EMPRESA TESTE6009SAO PAULO62290525AAAAAAAAAAAAAAAAAAAAAAAAA6304C279",
        "fulano@example.com",
        Some("Pedido 42"),
        Some(123_456),
        "EMPRESA TESTE",
        "SAO PAULO",
        Some("AAAAAAAAAAAAAAAAAAAAAAAAA"),
    ),
    (
        "00020126360014br.gov.bcb.pix011412ABC34501DE35520400005303986540599.905802BR5913EMPRESA TESTE6009SAO PAULO62090505NF1236304BECE",
        "12ABC34501DE35",
        None,
        Some(9_990),
        "EMPRESA TESTE",
        "SAO PAULO",
        Some("NF123"),
    ),
    // Codes of other institutions have no field 62, or brackets in the free text.
    (
        "00020126700014br.gov.bcb.pix0136403f6c37-bb1d-48aa-a61c-0f6a205764d80208[Pix.ae]5204000053039865802BR5903Pix6003Pix63042275",
        "403f6c37-bb1d-48aa-a61c-0f6a205764d8",
        Some("[Pix.ae]"),
        None,
        "Pix",
        "Pix",
        None,
    ),
];

#[test]
fn reads_static_codes() {
    for (text, key, info, amount, name, city, txid) in STATIC {
        let expected = StaticCode {
            key: PixKey::parse(key).unwrap(),
            info: info.map(str::to_owned),
            amount: amount.map(Money::from_centavos),
            merchant_name: name.to_owned(),
            merchant_city: city.to_owned(),
            postal_code: None,
            txid: txid.map(str::to_owned),
        };
        assert_eq!(BrCode::parse(text), Ok(BrCode::Static(expected)), "{text}");
    }
}

#[test]
fn reads_dynamic_codes() {
    for (text, location, single_use, amount, name, city, postal_code) in [
        (
            "00020101021226830014BR.GOV.BCB.PIX2561qrcodespix.sejaefi.com.br/v2/ff719c748dc244a294adee9174ace3795204000053039865802BR5905EFISA6008SAOPAULO62070503***6304BAC4",
            "qrcodespix.sejaefi.com.br/v2/ff719c748dc244a294adee9174ace379",
            true,
            None,
            "EFISA",
            "SAOPAULO",
            None,
        ),
        (
            "00020101021226770014BR.GOV.BCB.PIX2555pix.example.com/qr/93598be0-1bd0-4997-8318-81776a1d8a995204000053039865802BR5907EMPRESA6009SAO PAULO62070503***6304EEAB",
            "pix.example.com/qr/93598be0-1bd0-4997-8318-81776a1d8a99",
            true,
            None,
            "EMPRESA",
            "SAO PAULO",
            None,
        ),
        (
            "00020101021226760014br.gov.bcb.pix2554pix.example.com/qr/v2/9d36b84fc70b478fb95c12729b90ca255204000053039865802BR5913EMPRESA TESTE6009SAO PAULO62070503***63042BF6",
            "pix.example.com/qr/v2/9d36b84fc70b478fb95c12729b90ca25",
            true,
            None,
            "EMPRESA TESTE",
            "SAO PAULO",
            None,
        ),
        (
            "00020101021226910014br.gov.bcb.pix2569localhost:5001/api/testaccount/qr/v1/5b2970f464a740378aa472c6dad0bf8352040000530398654071234.565802BR5905Woovi6009SAO_PAULO610804556300622905255b2970f464a740378aa472c6d63046BA9",
            "localhost:5001/api/testaccount/qr/v1/5b2970f464a740378aa472c6dad0bf83",
            true,
            Some(Money::from_centavos(123_456)),
            "Woovi",
            "SAO_PAULO",
            Some("04556300".to_owned()),
        ),
    ] {
        let expected = DynamicCode {
            location: location.to_owned(),
            single_use,
            amount,
            merchant_name: name.to_owned(),
            merchant_city: city.to_owned(),
            postal_code,
        };
        assert_eq!(BrCode::parse(text), Ok(BrCode::Dynamic(expected)), "{text}");
    }
}

#[test]
fn canonical_vectors_are_written_byte_for_byte() {
    // Only codes with `br.gov` in lower case and with accepted characters are identical byte for byte.
    for (text, ..) in STATIC.iter().filter(|(text, ..)| text.contains("br.gov") && !text.contains('[')) {
        assert_eq!(BrCode::parse(text).unwrap().write().as_deref(), Ok(*text));
    }
    let dynamic = "00020101021226760014br.gov.bcb.pix2554pix.example.com/qr/v2/9d36b84fc70b478fb95c12729b90ca255204000053039865802BR5913EMPRESA TESTE6009SAO PAULO62070503***63042BF6";
    assert_eq!(BrCode::parse(dynamic).unwrap().write().as_deref(), Ok(dynamic));
}
