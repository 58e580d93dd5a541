//! The files of an acquirer, which are read again while the service runs.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use cais_domain::acquirer_name::AcquirerName;
use cais_ports::Secret;

use crate::{AcquirerConfig, Config, Pairs, read_secret};

/// The key of the headers that every request to the acquirer carries. Its text is parsed; an acquirer's other secrets are used as they are.
const EXTRA_HEADERS: &str = "extra_headers";

/// A hash of the contents of all files with an acquirer's certificates, public keys and secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileState(u64);

impl Config {
    /// Reads the files of an acquirer again. Returns the settings with the present secrets, and the state of all files.
    ///
    /// # Errors
    /// A file cannot be read, the file of a secret is empty or too large, or the headers are not `name=value` pairs.
    pub fn reread(&self, settings: &AcquirerConfig) -> Result<(AcquirerConfig, FileState), String> {
        let mut settings = settings.clone();
        let mut hasher = DefaultHasher::new();
        let files = [&settings.certificate_file, &settings.ca_file, &settings.webhook_public_key_file];
        for file in files.into_iter().flatten() {
            let content = fs::read(file).map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
            content.hash(&mut hasher);
        }
        let name = settings.name.clone();
        for (field, secret) in [
            ("client_secret", &mut settings.client_secret),
            ("application_key", &mut settings.application_key),
            ("app_id", &mut settings.app_id),
            ("webhook_hmac_secret", &mut settings.webhook_hmac_secret),
            ("certificate_passphrase", &mut settings.certificate_passphrase),
        ] {
            if let Some(text) = self.secret_in_file(&name, field)? {
                text.hash(&mut hasher);
                *secret = Some(Secret::new(text));
            }
        }
        if let Some(text) = self.secret_in_file(&name, EXTRA_HEADERS)? {
            text.hash(&mut hasher);
            let headers = Pairs::parse(&text).map_err(|rule| format!("acquirers.{name}.{EXTRA_HEADERS}: {rule}"))?;
            settings.extra_headers = Some(headers);
        }
        Ok((settings, FileState(hasher.finish())))
    }

    /// Returns the secret of the key `acquirers.ACQUIRER.FIELD` from its file; `None` if no file sets the key.
    fn secret_in_file(&self, acquirer: &AcquirerName, field: &str) -> Result<Option<String>, String> {
        let file = self.secret_file(&format!("acquirers.{acquirer}.{field}"));
        file.map(|file| read_secret(&file.display().to_string())).transpose()
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::fs;

    use crate::source::Sources;
    use crate::{AcquirerConfig, Config, Pairs, Problems, docs};

    /// The values that an acquirer of the kind `bacen` needs beside the key under test.
    const BACEN: [(&str, &str); 5] = [
        ("kind", "bacen"),
        ("base_url", "https://pix.example"),
        ("client_id", "client"),
        ("client_secret", "hush"),
        ("pix_key", "7d9f0335-8dcc-4054-9bf9-0dbd61d36906"),
    ];
    /// The values that an acquirer of the kind `woovi` needs beside the key under test.
    const WOOVI: [(&str, &str); 4] =
        [("kind", "woovi"), ("base_url", "https://woovi.example"), ("app_id", "hush"), ("webhook_hmac_secret", "hush")];

    /// Returns the configuration of one acquirer.
    fn load(values: &[(&str, &str)]) -> Result<Config, Problems> {
        let key = |name: &str| format!("acquirers.main.{name}");
        let sources = values.iter().fold(Sources::default(), |sources, (name, value)| sources.with(&key(name), *value));
        Config::load(&sources)
    }

    fn main(config: &Config) -> &AcquirerConfig {
        config.acquirers.first().unwrap()
    }

    /// Returns every key of an acquirer whose value is a file, and the field that the key sets.
    fn file_keys() -> Vec<(String, String)> {
        let keys = docs::keys().into_iter().filter_map(|key| {
            let field = key.path.strip_prefix("acquirers.NAME.")?.to_owned();
            let of_secret = key.is_secret.then(|| format!("{field}_file"));
            Some((of_secret.or_else(|| (key.takes == "file").then(|| field.clone()))?, field))
        });
        keys.collect()
    }

    #[test]
    fn change_of_every_file_of_an_acquirer_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        let path = file.display().to_string();
        let keys = file_keys();
        assert!(keys.len() >= 9, "{keys:?}");
        for (key, field) in keys {
            fs::write(&file, "one=1").unwrap();
            let with_key = |base: &[(&'static str, &'static str)]| {
                let base = base.iter().copied().filter(|(name, _)| *name != field);
                load(&base.chain([(key.as_str(), path.as_str())]).collect::<Vec<_>>())
            };
            let config = with_key(&BACEN).or_else(|_| with_key(&WOOVI)).unwrap();
            let before = config.reread(main(&config)).unwrap().1;
            assert_eq!(config.reread(main(&config)).unwrap().1, before, "{key}: the file is unchanged");
            fs::write(&file, "two=2").unwrap();
            assert_ne!(config.reread(main(&config)).unwrap().1, before, "{key}");
            fs::remove_file(&file).unwrap();
            assert!(config.reread(main(&config)).is_err(), "{key}: the file is missing");
        }
    }

    #[test]
    fn changed_headers_file_replaces_the_headers() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("headers");
        let path = file.display().to_string();
        fs::write(&file, "x-api-key=old").unwrap();
        let config = load(&[&BACEN[..], &[("extra_headers_file", path.as_str())]].concat()).unwrap();
        fs::write(&file, "x-api-key=new, x-account=7\n").unwrap();
        let (settings, _) = config.reread(main(&config)).unwrap();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(settings.extra_headers, Some(Pairs(vec![pair("x-api-key", "new"), pair("x-account", "7")])));
        fs::write(&file, "no header").unwrap();
        let problem = config.reread(main(&config)).unwrap_err();
        assert!(problem.starts_with("acquirers.main.extra_headers: must be") && !problem.contains("no header"));
    }
}
