//! The authenticator of a user. Computes one-time codes from the secret that the enrolment page of the dashboard shows.

use anyhow::{Context as _, Result};
use cais_domain::login::code::STEP_S;
use cais_ports::{OneTimeCodes as _, SigningSecret};
use cais_secrets::TotpCodes;

/// The alphabet of base32 (RFC 4648, section 6).
const BASE32: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// The secret of a user, and the time step of the last code. A time step is a period of 30 s, counted from 1970.
pub struct Authenticator {
    secret: SigningSecret,
    last_step: i64,
}

impl Authenticator {
    /// Reads the secret as the enrolment page shows it.
    ///
    /// # Errors
    /// If the text is not base32 of a secret.
    pub fn read(secret: &str) -> Result<Self> {
        let mut bits = Vec::new();
        for letter in secret.chars() {
            let value = u8::try_from(BASE32.find(letter).context("a letter outside of base32")?)?;
            bits.extend((0..5).rev().map(|place| (value >> place) & 1));
        }
        let bytes: Vec<u8> = bits.chunks_exact(8).map(|byte| byte.iter().fold(0, |sum, bit| sum << 1 | bit)).collect();
        let secret = bytes.try_into().ok().context("the secret is not 32 bytes long")?;
        Ok(Self { secret: SigningSecret(secret), last_step: 0 })
    }

    /// Returns the first step from `earliest` on whose code was not used.
    #[must_use]
    pub fn unused_step(&self, earliest: i64) -> i64 {
        earliest.max(self.last_step.saturating_add(1))
    }

    /// Returns the code of a step. The code then counts as used.
    pub fn code(&mut self, step: i64) -> String {
        self.last_step = step;
        format!("{:06}", TotpCodes.code(&self.secret, step).0)
    }
}

/// Returns the current step, and the seconds since the step began. Both come from the machine's clock.
#[expect(clippy::disallowed_methods, reason = "an authenticator is outside the service")]
#[must_use]
pub fn present_step() -> (i64, i64) {
    let now = jiff::Timestamp::now().as_second();
    (now.div_euclid(STEP_S), now.rem_euclid(STEP_S))
}
