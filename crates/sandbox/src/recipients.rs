//! The simulated directory of Pix keys. Every valid key has an owner. Sends to three keys deliberately fail, take long, or lose the answer
//! to their request.

use cais_domain::{
    document::{Cpf, Document},
    pix_key::PixKey,
};
use jiff::SignedDuration;
use ring::digest::{SHA256, digest};

use crate::state::sent::{Recipient, SendFailure};

/// The key whose sends are accepted and then become `NAO_REALIZADO`.
const FAILING: &str = "fail@sandbox.cais";

/// The key whose sends stay `EM_PROCESSAMENTO` for [`SLOW_SETTLES_AFTER`].
const SLOW: &str = "slow@sandbox.cais";

/// The key whose sends are accepted and completed, but the answer to the request is lost.
const LOSING: &str = "lost@sandbox.cais";

/// The duration of a send to [`SLOW`].
const SLOW_SETTLES_AFTER: SignedDuration = SignedDuration::from_secs(5);

/// The number of values of the nine digits before a CPF's check digits.
const CPF_BODIES: u64 = 1_000_000_000;

const GIVEN_NAMES: [&str; 16] = [
    "Ana", "Bruno", "Carla", "Diego", "Elisa", "Fabio", "Gabriela", "Heitor", "Isabel", "Joao", "Larissa", "Marcos",
    "Natalia", "Otavio", "Paula", "Rafael",
];

const FAMILY_NAMES: [&str; 16] = [
    "Almeida", "Barbosa", "Cardoso", "Duarte", "Esteves", "Ferreira", "Gomes", "Lima", "Martins", "Nogueira",
    "Oliveira", "Pereira", "Ramos", "Santos", "Teixeira", "Vieira",
];

/// The behavior of sends to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manner {
    /// The failure, if any.
    pub failure: Option<SendFailure>,
    /// The time that the send stays `EM_PROCESSAMENTO`; `None` for the default time.
    pub settles_after: Option<SignedDuration>,
    /// `true` if the answer to the request is lost.
    pub loses_reply: bool,
}

/// Returns the behavior of sends to this key.
#[must_use]
pub fn manner_of(key: &PixKey) -> Manner {
    let usual = Manner { failure: None, settles_after: None, loses_reply: false };
    match key.as_str() {
        FAILING => Manner { failure: Some(SendFailure::NoSuchAccount), ..usual },
        SLOW => Manner { settles_after: Some(SLOW_SETTLES_AFTER), ..usual },
        LOSING => Manner { loses_reply: true, ..usual },
        _ => usual,
    }
}

/// Returns the fictitious owner of a key: a company for a CNPJ, otherwise a person. A key always has the same owner. A CPF or CNPJ key is
/// its owner's document.
#[must_use]
pub fn owner_of(key: &PixKey) -> Recipient {
    let hash = digest(&SHA256, key.as_str().as_bytes());
    let mut bytes = hash.as_ref().iter().copied();
    let given = pick(&GIVEN_NAMES, bytes.next());
    let family = pick(&FAMILY_NAMES, bytes.next());
    let number = bytes.take(8).fold(0_u64, |number, byte| (number << 8) | u64::from(byte));
    let person = format!("{given} {family}");
    let (name, document) = match key {
        PixKey::Cpf(cpf) => (person, cpf.as_str().to_owned()),
        PixKey::Cnpj(cnpj) => (format!("{family} Comercio Ltda"), cnpj.as_str().to_owned()),
        PixKey::Email(_) | PixKey::Phone(_) | PixKey::Evp(_) => (person, cpf_from(number)),
    };
    Recipient { key: key.as_str().into(), name: name.into(), document: document.into() }
}

/// Returns the account number of an owner. An owner always has the same number.
#[must_use]
pub fn account_of(owner: &Recipient) -> String {
    let hash = digest(&SHA256, owner.document.as_bytes());
    let number = hash.as_ref().iter().take(4).fold(0_u64, |number, byte| (number << 8) | u64::from(*byte));
    format!("{:06}", number % 1_000_000)
}

/// Returns whether the owner has the document that the sender expects.
#[must_use]
pub fn is_owned_by(owner: &Recipient, expected: &Document) -> bool {
    *owner.document == *expected.as_str()
}

fn pick(names: &[&'static str; 16], byte: Option<u8>) -> &'static str {
    let position = usize::from(byte.unwrap_or_default()) % names.len();
    names.get(position).copied().unwrap_or_default()
}

/// Returns a valid CPF whose first nine digits come from the number. The check digits are searched among the hundred possible endings.
fn cpf_from(number: u64) -> String {
    let body = number % CPF_BODIES;
    // A CPF of equal digits is never issued, so the adjacent number is used.
    let cpf = [body, body ^ 1]
        .into_iter()
        .find_map(|body| (0..100).find_map(|ending| Cpf::parse(&format!("{body:09}{ending:02}")).ok()));
    cpf.map(|cpf| cpf.as_str().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    #[test]
    fn key_always_has_the_same_owner_with_valid_document() {
        for text in
            ["a@example.com", "+5511987654321", "123e4567-e89b-12d3-a456-426655440000", FAILING, "b@example.com"]
        {
            let key = PixKey::parse(text).unwrap();
            let owner = owner_of(&key);
            assert_eq!(owner, owner_of(&key));
            assert!(Cpf::parse(&owner.document).is_ok(), "{owner:?}");
            assert!(owner.name.contains(' '));
        }
    }

    #[test]
    fn tax_number_key_is_its_owners_document() {
        for text in ["52998224725", "12ABC34501DE35"] {
            let owner = owner_of(&PixKey::parse(text).unwrap());
            assert!(is_owned_by(&owner, &Document::parse(text).unwrap()));
            assert!(!is_owned_by(&owner, &Document::parse("11144477735").unwrap()));
        }
    }

    #[test]
    fn any_nine_digits_give_a_valid_cpf() {
        for number in [0, 1, 111_111_111, 222_222_222, 999_999_999, 123_456_789] {
            assert!(Cpf::parse(&cpf_from(number)).is_ok(), "{number}");
        }
    }
}
