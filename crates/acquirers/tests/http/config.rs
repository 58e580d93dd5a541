//! Tests invalid configurations, and hidden secrets.

use cais_acquirers::{BacenAcquirer, BacenConfig, BacenConfigError, Certificate, Profile, Secret};

use crate::answers::config;

#[test]
fn invalid_configuration_is_named() {
    type Change = fn(&mut BacenConfig);
    let cases: [(Change, &str); 9] = [
        (|config| config.base_url = "pix.example".to_owned(), "base_url must be"),
        (|config| config.base_url = "http://pix.example".to_owned(), "base_url must be https"),
        (|config| config.token_url = Some("http://10.1.1.1/t".to_owned()), "token_url must be https"),
        (|config| config.client_id = "a:b".to_owned(), "client_id"),
        (|config| config.client_id = String::new(), "client_id"),
        (|config| config.client_secret = Secret::new(""), "client_secret"),
        (
            |config| config.certificate = Some(Certificate::new(b"junk".to_vec(), None)),
            "the client certificate is neither PEM",
        ),
        (
            |config| {
                let pem = b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
                config.certificate = Some(Certificate::new(pem.to_vec(), None));
            },
            "the client certificate has no certificate",
        ),
        (|config| config.extra_root_pem = Some(b"junk".to_vec()), "the extra root certificate has no"),
    ];
    for (change, message) in cases {
        let mut config = config("http://127.0.0.1:9");
        change(&mut config);
        let error = BacenAcquirer::new(&config).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains(message), "{message}: {error}");
    }
}

#[test]
fn debug_output_hides_secrets() {
    let mut config = config("http://127.0.0.1:9");
    config.certificate = Some(Certificate::new(b"hush".to_vec(), Some(Secret::new("hush"))));
    config.application_key = Some(Secret::new("hush"));
    config.profile = Profile {
        headers: vec![("x-api-key".to_owned(), "hush".to_owned())],
        query: vec![("key".to_owned(), "{application_key}".to_owned())],
        ..Profile::default()
    };
    let shown = format!("{config:?} {:?}", config.client_secret);
    assert!(!shown.contains("hush") && !shown.contains("104, 117, 115, 104"), "{shown}");
    config.certificate = None;
    let acquirer = BacenAcquirer::new(&config).unwrap();
    let shown = format!("{acquirer:?}");
    assert!(!shown.contains("hush") && !shown.contains("Y2xpZW50"), "{shown}");
    assert!(matches!(
        BacenAcquirer::new(&BacenConfig { client_id: "é".to_owned(), ..config }),
        Err(BacenConfigError::ClientId)
    ));
}
