//! A replacement for the keyed hashes of secrets in tests. Anyone can compute these hashes, so they prove nothing.

use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::sync::atomic::{AtomicU64, Ordering};

use cais_ports::{KeyedHash, SecretHash};

/// Hashes that differ if purpose or secret differ, and random bytes that never repeat but are predictable. For tests only.
#[derive(Debug, Default)]
pub struct PlainKeyedHash {
    drawn: AtomicU64,
}

impl KeyedHash for PlainKeyedHash {
    fn hash(&self, purpose: &str, secret: &[u8]) -> SecretHash {
        let mut hash = [0; 32];
        fill(&mut hash, |block| (block, purpose, secret));
        SecretHash(hash)
    }

    fn verify(&self, purpose: &str, secret: &[u8], hash: &SecretHash) -> bool {
        self.hash(purpose, secret) == *hash
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        let draw = self.drawn.fetch_add(1, Ordering::Relaxed);
        fill(bytes, |block| (block, "random", draw));
    }
}

/// Fills blocks of eight bytes, each with a hash of its value.
fn fill<T: Hash>(bytes: &mut [u8], of_block: impl Fn(usize) -> T) {
    for (block, chunk) in bytes.chunks_mut(8).enumerate() {
        let mut hasher = DefaultHasher::new();
        of_block(block).hash(&mut hasher);
        for (slot, byte) in chunk.iter_mut().zip(hasher.finish().to_be_bytes()) {
            *slot = byte;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_differ_by_purpose_and_secret() {
        let keyed_hash = PlainKeyedHash::default();
        let hash = keyed_hash.hash("key", b"secret");
        assert!(keyed_hash.verify("key", b"secret", &hash));
        assert!(!keyed_hash.verify("key", b"secreT", &hash));
        assert!(!keyed_hash.verify("other", b"secret", &hash));
        assert!(!keyed_hash.verify("keys", b"ecret", &hash));
    }

    #[test]
    fn successive_draws_differ() {
        let keyed_hash = PlainKeyedHash::default();
        let (mut first, mut second) = ([0; 12], [0; 12]);
        keyed_hash.fill_random(&mut first);
        keyed_hash.fill_random(&mut second);
        assert_ne!(first, second);
    }
}
