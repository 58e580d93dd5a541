//! The signatures of callbacks: RSA over the body with Woovi's key, or the older HMAC with the webhook's own secret.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cais_ports::CallbackSignatures;
use ring::hmac;
use ring::signature::{RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY, UnparsedPublicKey};
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::pki_types::pem::PemObject;
use x509_cert::der::Decode;
use x509_cert::spki::{ObjectIdentifier, SubjectPublicKeyInfoRef};

use super::config::WooviConfigError;
use crate::http::Secret;

/// The header of the RSA signature.
const RSA_HEADER: &str = "x-webhook-signature";
/// The header of the HMAC.
const HMAC_HEADER: &str = "x-openpix-signature";
/// The object identifier of RSA keys (RFC 8017, appendix A.1).
const RSA_ENCRYPTION: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
/// The largest number of used public keys; further keys are ignored. A rotation needs two.
const MAX_KEYS: usize = 8;
/// The shortest accepted encoding of a public key, in bytes. A key of 1024 bits, the size of the production key, is longer: its modulus
/// alone has 128 bytes.
const MIN_KEY_BYTES: usize = 128;

/// The keys that verify callbacks.
#[derive(Clone)]
pub(super) struct CallbackKeys {
    /// RSA public keys (RFC 8017, `RSAPublicKey`).
    public: Vec<Vec<u8>>,
    hmac: Option<hmac::Key>,
}

impl CallbackKeys {
    /// Reads the configured keys.
    ///
    /// # Errors
    /// [`WooviConfigError`] for an unusable key, or if no key is configured.
    pub(super) fn new(public_pem: Option<&str>, hmac: Option<&Secret>) -> Result<Self, WooviConfigError> {
        let public = public_pem.map(read_public_keys).transpose()?.unwrap_or_default();
        let hmac = match hmac.map(|secret| secret.expose().trim()) {
            Some("") => return Err(WooviConfigError::HmacSecret),
            secret => secret,
        };
        // Woovi's older signature is HMAC with SHA-1. Collisions of SHA-1 do not break an HMAC.
        let hmac = hmac.map(|secret| hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, secret.as_bytes()));
        if public.is_empty() && hmac.is_none() {
            return Err(WooviConfigError::NoCallbackKey);
        }
        Ok(Self { public, hmac })
    }

    /// Returns whether a configured key verifies a signature of `body`.
    pub(super) fn verify(&self, body: &[u8], signatures: &CallbackSignatures) -> bool {
        let decode = |header| signatures.get(header).and_then(|text| STANDARD.decode(text.trim()).ok());
        let is_rsa = decode(RSA_HEADER).is_some_and(|signature| {
            // The production key has 1024 bits. The library's other algorithms require 2048 bits.
            let algorithm = &RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY;
            self.public.iter().any(|key| UnparsedPublicKey::new(algorithm, key).verify(body, &signature).is_ok())
        });
        is_rsa
            || decode(HMAC_HEADER)
                .zip(self.hmac.as_ref())
                .is_some_and(|(signature, key)| hmac::verify(key, body, &signature).is_ok())
    }
}

/// Returns the RSA keys of a PEM text.
fn read_public_keys(pem: &str) -> Result<Vec<Vec<u8>>, WooviConfigError> {
    let read = |der: Result<SubjectPublicKeyInfoDer<'_>, _>| rsa_key(&der.ok()?);
    let keys: Option<Vec<_>> =
        SubjectPublicKeyInfoDer::pem_slice_iter(pem.as_bytes()).take(MAX_KEYS).map(read).collect();
    keys.filter(|keys| !keys.is_empty()).ok_or(WooviConfigError::PublicKey)
}

fn rsa_key(der: &[u8]) -> Option<Vec<u8>> {
    let info = SubjectPublicKeyInfoRef::from_der(der).ok()?;
    let key = info.subject_public_key.as_bytes()?;
    (info.algorithm.oid == RSA_ENCRYPTION && key.len() >= MIN_KEY_BYTES).then(|| key.to_vec())
}

/// Shows only the number of keys.
impl fmt::Debug for CallbackKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CallbackKeys({} public, {} hmac)", self.public.len(), u8::from(self.hmac.is_some()))
    }
}

#[cfg(test)]
mod tests {
    use cais_ports::CallbackSignatures;

    use super::{CallbackKeys, Secret};

    /// Woovi's published key of production, and its published example of a signed callback.
    const PUBLISHED_KEY: &str = "-----BEGIN PUBLIC KEY-----\nMIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC/+NtIkjzevvqD+I3MMv3bLXDt\npvxBjY4BsRrSdca3rtAwMcRYYvxSnd7jagVLpctMiOxQO8ieUCKLSWHpsMAjO/zZ\nWMKbqoG8MNpi/u3fp6zz0mcHCOSqYsPUUG19buW8bis5ZZ2IZgBObWSpTvJ0cnj6\nHKBAA82Jln+lGwS1MwIDAQAB\n-----END PUBLIC KEY-----\n";
    const PUBLISHED_BODY: &str = r#"{ "pixQrCode": null, "charge": { "status": "COMPLETED", "customer": { "name": "Antonio Victor", "taxID": { "taxID": "12345678976", "type": "BR:CPF" }, "email": "antoniocliente@example.com", "correlationID": "4979ceba-2132-4292-bd90-bee7fb2125e4" }, "value": 1000, "comment": "Pagamento OpenPix", "transactionID": "ea83401ed4834b3ea6f1f283b389af29", "correlationID": "417bae21-3d08-4cdb-9c2d-fee63c89e9e4", "paymentLinkID": "34697ed2-3790-4b60-8512-e7465b142d84", "createdAt": "2021-03-12T12:43:54.528Z", "updatedAt": "2021-03-12T12:44:09.360Z", "brCode": "https://api.openpix.com.br/openpix/openpix/testing?transactionID=ea83401ed4834b3ea6f1f283b389af29" }, "pix": { "charge": { "status": "COMPLETED", "customer": { "name": "Antonio Victor", "taxID": { "taxID": "12345678976", "type": "BR:CPF" }, "email": "antoniocliente@example.com", "correlationID": "4979ceba-2132-4292-bd90-bee7fb2125e4" }, "value": 1000, "comment": "Pagamento OpenPix", "transactionID": "ea83401ed4834b3ea6f1f283b389af29", "correlationID": "417bae21-3d08-4cdb-9c2d-fee63c89e9e4", "paymentLinkID": "34697ed2-3790-4b60-8512-e7465b142d84", "createdAt": "2021-03-12T12:43:54.528Z", "updatedAt": "2021-03-12T12:44:09.360Z" }, "customer": { "correlationID": "9134e286-6f71-427a-bf00-241681624586", "email": "email1@example.com", "name": "Loma", "phone": "+5511999999999", "taxID": { "taxID": "47043622050", "type": "BR:CPF" } }, "payer": { "correlationID": "9134e286-6f71-427a-bf00-241681624586", "email": "email1@example.com", "name": "Loma", "phone": "+5511999999999", "taxID": { "taxID": "47043622050", "type": "BR:CPF" } }, "time": "2021-03-12T12:44:09.269Z", "value": 1, "transactionID": "ea83401ed4834b3ea6f1f283b389af29", "infoPagador": "OpenPix testing" }, "company": { "id": "624f46f9e93f9f521c8308d7", "name": "Pizzaria do José", "taxID": "4722767300014" }, "account": { "clientId": "ZOJ64B9B-ZM1W-89MI-4UCI-OP2LVIU6NY75" } }"#;
    const PUBLISHED_SIGNATURE: &str = "lL2nnXgmLFGgxJ8+jCDguqouU4ucrIxYJcU5SPrJFaNcJajTJHYVldqc/z4YFIjAjtPEALe699WosgPY08W7CLpidvtm06Qwa4YMB0l/DcTS93O91NdSH/adjugEKiOb76Zj/0jB8mqOmWCFYbweOBa17bssuEkd5Lw7Q5L314Y=";

    const BODY: &str =
        r#"{"event":"OPENPIX:CHARGE_COMPLETED","charge":{"correlationID":"01jd8x2m4pe9ktva0c6rzq5w3n"}}"#;
    /// A key of 2048 bits, its signature of [`BODY`], and the HMAC of [`BODY`] with [`SECRET`], all made by OpenSSL.
    const LONG_KEY: &str = "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA1YbNHriG381B8APNiA+0\nnoB8WS0f80cTU9RaPaEM+oPg0e+DP/1qvQt/4pPVH0sI8aceVc0THLKH68a9lDTA\nJinFtTtl4r44GjxtDQD75iKgAiWx5dbn3L9shaGkOojnA9WGHBPSrkmYBYTVhUgo\nB5k7eQtMkvrBw7FMKwO2pxQVYlBNToObqjnlG+MayHe+3h4GMVBEk9CKHnk2Bf07\nK/d3I3a6DNuR04I/TkqG/EqS8ra2ie3yg+ftRpxBrvqpd3uEkYM1VPPcjCC6EHGt\nxECdb6P6h78bd0/wyI+V8vFMUG+M9QoSvPBNpTm4Z9xfozeBr/1vz8Qc+j9ykT5G\nmwIDAQAB\n-----END PUBLIC KEY-----\n";
    const LONG_SIGNATURE: &str = "LAGpv497C7EPMx9FWnE7AUxqagzmpmDnOpyjrB32sSIHMJ9CrRr9dExOLqQ8pSSPsmAhWPI682hhosXtLzoCrhx/RM6+Jn7ASunouh07NOZ6trL85uuOUI3XpAjOF/GSutMTnA9ivwdAkvzHuHQ/JfuCvvYLQkzyGQykuUjAsHUpqxgJx7aVwCWJYSzC1nb4hUuu8eJzKt070qKRtcLLsmOAtT2Iu1eD9BuhN57t4/XQyst0VrkrYPHBSia9UfXEyRTe0T5LYvzt3A+EhCPneZM0KGudE5gg2un1N7Cf27jxuCd0uknTh8eRiI+vS+2LNkXf+fbAyPphe13MWWMCBw==";
    const SECRET: &str = "openpix_secret";
    const HMAC: &str = "nmg+bF925zRmwQ7XnTPptVu0/3A=";

    const RSA: &str = "x-webhook-signature";
    const OLDER: &str = "X-OpenPix-Signature";

    fn accepts(keys: (Option<&str>, Option<&str>), headers: &[(&str, &str)], body: &str) -> bool {
        let secret = keys.1.map(Secret::new);
        let keys = CallbackKeys::new(keys.0, secret.as_ref()).unwrap_or_else(|error| unreachable!("{error}"));
        keys.verify(body.as_bytes(), &CallbackSignatures::of_headers(headers.iter().copied()))
    }

    #[test]
    fn published_example_is_verified_with_published_key() {
        let key = (Some(PUBLISHED_KEY), None);
        assert!(accepts(key, &[(RSA, PUBLISHED_SIGNATURE)], PUBLISHED_BODY));
        assert!(!accepts(key, &[(RSA, PUBLISHED_SIGNATURE)], &PUBLISHED_BODY.replace("1000", "1001")));
        assert!(!accepts(key, &[(RSA, LONG_SIGNATURE)], PUBLISHED_BODY));
    }

    #[test]
    fn callback_needs_a_signature_of_a_configured_key() {
        let both = format!("{PUBLISHED_KEY}{LONG_KEY}");
        let tampered = LONG_SIGNATURE.replacen('L', "M", 1);
        let spaced = format!(" {LONG_SIGNATURE}\n");
        for (public, secret, headers, wanted) in [
            (Some(LONG_KEY), None, vec![(RSA, LONG_SIGNATURE)], true),
            (Some(LONG_KEY), None, vec![("X-Webhook-Signature", LONG_SIGNATURE)], true),
            (Some(LONG_KEY), None, vec![(RSA, spaced.as_str())], true),
            // During a rotation both keys are valid.
            (Some(both.as_str()), None, vec![(RSA, LONG_SIGNATURE)], true),
            (Some(PUBLISHED_KEY), None, vec![(RSA, LONG_SIGNATURE)], false),
            (Some(LONG_KEY), None, vec![(RSA, tampered.as_str())], false),
            (Some(LONG_KEY), None, vec![(RSA, "not base64!")], false),
            (Some(LONG_KEY), None, vec![(RSA, "")], false),
            (Some(LONG_KEY), None, vec![], false),
            (Some(LONG_KEY), None, vec![(OLDER, HMAC)], false),
            (Some(LONG_KEY), None, vec![(OLDER, LONG_SIGNATURE)], false),
            (None, Some(SECRET), vec![(OLDER, HMAC)], true),
            (None, Some(" openpix_secret\n"), vec![(OLDER, HMAC)], true),
            (None, Some("another"), vec![(OLDER, HMAC)], false),
            (None, Some(SECRET), vec![(RSA, HMAC)], false),
            (None, Some(SECRET), vec![(RSA, LONG_SIGNATURE)], false),
            (Some(LONG_KEY), Some(SECRET), vec![(OLDER, HMAC)], true),
            (Some(LONG_KEY), Some(SECRET), vec![(RSA, LONG_SIGNATURE)], true),
            (Some(LONG_KEY), Some("another"), vec![(RSA, tampered.as_str()), (OLDER, HMAC)], false),
        ] {
            assert_eq!(accepts((public, secret), &headers, BODY), wanted, "{headers:?} {secret:?}");
        }
    }

    #[test]
    fn unusable_keys_are_refused() {
        const ELLIPTIC: &str = "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEPhxYjikl6aAgPymBvqrOCxVB3/lp\n0SGBoXsV8elM2bMSkhX8OCyfNEJYk+i7gLoW41lrWne+5K7fVjTdBqyXrA==\n-----END PUBLIC KEY-----\n";
        const SHORT: &str = "-----BEGIN PUBLIC KEY-----\nMFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAMUEJH+k8Oh3YbDqo8z9gqRFFcjWgKuU\njaVgqvy+LVYjrumBK3oxHzVT2crUetxFPCYK0olNHqz+Bbt87hoEseUCAwEAAQ==\n-----END PUBLIC KEY-----\n";
        for (public, secret, message) in [
            (None, None, "webhook_public_key_file or webhook_hmac_secret"),
            (Some(""), None, "webhook_public_key_file must have"),
            (Some("junk"), None, "webhook_public_key_file must have"),
            (Some(ELLIPTIC), None, "webhook_public_key_file must have"),
            (Some(SHORT), None, "webhook_public_key_file must have"),
            (Some(LONG_KEY), Some(" "), "webhook_hmac_secret must not be empty"),
        ] {
            let error = CallbackKeys::new(public, secret.map(Secret::new).as_ref()).err();
            let reported = error.map(|error| error.to_string()).unwrap_or_default();
            assert!(reported.starts_with(message), "{public:?}: {reported}");
        }
    }
}
