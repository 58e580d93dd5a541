//! The files of an acquirer, read again while the service runs.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use cais_ports::Secret;

use crate::{AcquirerConfig, Config, read_secret};

/// The state of the files with an acquirer's certificates and secrets. A change of any content changes the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileState(u64);

impl Config {
    /// Reads the files of an acquirer again. Returns the settings with the present secrets, and the state of all files.
    ///
    /// # Errors
    /// A file cannot be read, or holds no secret.
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
            if let Some(file) = self.secret_file(&format!("acquirers.{name}.{field}")) {
                let text = read_secret(&file.display().to_string())?;
                text.hash(&mut hasher);
                *secret = Some(Secret::new(text));
            }
        }
        Ok((settings, FileState(hasher.finish())))
    }
}
