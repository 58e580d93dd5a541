//! A stand-in for the keyed codes of secrets. It proves nothing: anybody can compute it.

use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::sync::atomic::{AtomicU64, Ordering};

use cais_ports::{Mac, SecretMac};

/// Codes that differ when purpose or secret differ, and random bytes that never repeat but can be foretold. For tests only.
#[derive(Debug, Default)]
pub struct PlainMac {
    drawn: AtomicU64,
}

impl Mac for PlainMac {
    fn code(&self, purpose: &str, secret: &[u8]) -> SecretMac {
        let mut code = [0; 32];
        fill(&mut code, |lane| (lane, purpose, secret));
        SecretMac(code)
    }

    fn verify(&self, purpose: &str, secret: &[u8], code: &SecretMac) -> bool {
        self.code(purpose, secret) == *code
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        let draw = self.drawn.fetch_add(1, Ordering::Relaxed);
        fill(bytes, |lane| (lane, "random", draw));
    }
}

/// Eight bytes for each lane, from everything that the lane is made of.
fn fill<T: Hash>(bytes: &mut [u8], of_lane: impl Fn(usize) -> T) {
    for (lane, chunk) in bytes.chunks_mut(8).enumerate() {
        let mut hasher = DefaultHasher::new();
        of_lane(lane).hash(&mut hasher);
        for (slot, byte) in chunk.iter_mut().zip(hasher.finish().to_be_bytes()) {
            *slot = byte;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_tell_purposes_and_secrets_apart() {
        let mac = PlainMac::default();
        let code = mac.code("key", b"secret");
        assert!(mac.verify("key", b"secret", &code));
        assert!(!mac.verify("key", b"secreT", &code));
        assert!(!mac.verify("other", b"secret", &code));
        assert!(!mac.verify("keys", b"ecret", &code));
    }

    #[test]
    fn no_two_draws_are_alike() {
        let mac = PlainMac::default();
        let (mut first, mut second) = ([0; 12], [0; 12]);
        mac.fill_random(&mut first);
        mac.fill_random(&mut second);
        assert_ne!(first, second);
    }
}
