//! Tests invalid configurations, and hidden secrets.

use cais_acquirers::{Secret, WooviAcquirer, WooviConfig};

use super::answers::{APP_ID, config};

#[test]
fn invalid_configuration_is_named() {
    type Change = fn(&mut WooviConfig);
    let cases: [(Change, &str); 7] = [
        (|config| config.base_url = "api.woovi.com".to_owned(), "base_url must be"),
        (|config| config.base_url = "http://api.woovi.com".to_owned(), "base_url must be https"),
        (|config| config.app_id = Secret::new(""), "app_id must be"),
        (|config| config.app_id = Secret::new("a b"), "app_id must be"),
        (|config| config.webhook_public_key = Some("junk".to_owned()), "webhook_public_key_file must have"),
        (|config| config.webhook_hmac_secret = None, "webhook_public_key_file or webhook_hmac_secret"),
        (|config| config.extra_root_pem = Some(b"junk".to_vec()), "the extra root certificate"),
    ];
    for (change, message) in cases {
        let mut config = config(WooviConfig::BASE_URL);
        change(&mut config);
        let error = WooviAcquirer::new(&config).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains(message), "{message}: {error}");
    }
}

#[test]
fn debug_output_hides_secrets() {
    let config = config("http://127.0.0.1:9");
    let shown = format!("{config:?} {:?}", WooviAcquirer::new(&config).unwrap());
    assert!(!shown.contains(APP_ID) && !shown.contains("hush"), "{shown}");
}
