//! The simulated directory of Pix keys. Every valid key has an owner. A Pix to `fail@sandbox.cais` fails, and one to `slow@sandbox.cais`
//! takes long. For `lost@sandbox.cais`, only the response to the request is lost.

use cais_domain::{
    document::{Cpf, Document},
    pix_key::PixKey,
};
use jiff::SignedDuration;
use ring::digest::{SHA256, digest};

use crate::state::sent::{Recipient, SendFailure};

/// A Pix to this key is accepted, and later fails (`NAO_REALIZADO`).
const FAILING_KEY: &str = "fail@sandbox.cais";

/// A Pix to this key stays `EM_PROCESSAMENTO` for [`SLOW_SETTLES_AFTER`].
const SLOW_KEY: &str = "slow@sandbox.cais";

/// A Pix to this key is accepted and completed, but the client receives no response to its request.
const LOST_REPLY_KEY: &str = "lost@sandbox.cais";

/// The time from the acceptance of a Pix to [`SLOW_KEY`] until its completion.
const SLOW_SETTLES_AFTER: SignedDuration = SignedDuration::from_secs(5);

/// The number of possible values of a CPF's first nine digits. Two check digits follow them.
const CPF_BODIES: u64 = 1_000_000_000;

const GIVEN_NAMES: [&str; 16] = [
    "Ana", "Bruno", "Carla", "Diego", "Elisa", "Fabio", "Gabriela", "Heitor", "Isabel", "Joao", "Larissa", "Marcos",
    "Natalia", "Otavio", "Paula", "Rafael",
];

const FAMILY_NAMES: [&str; 16] = [
    "Almeida", "Barbosa", "Cardoso", "Duarte", "Esteves", "Ferreira", "Gomes", "Lima", "Martins", "Nogueira",
    "Oliveira", "Pereira", "Ramos", "Santos", "Teixeira", "Vieira",
];

/// The simulated behavior of a Pix to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PixBehavior {
    /// The reason for which the Pix fails; `None` if it is completed.
    pub failure: Option<SendFailure>,
    /// The time that the Pix stays `EM_PROCESSAMENTO`; `None` for [`crate::SandboxConfig::payout_settles_after`].
    pub settles_after: Option<SignedDuration>,
    /// `true`: the connection is closed without a response to the request.
    pub loses_reply: bool,
}

/// Returns the simulated behavior of a Pix to this key.
#[must_use]
pub fn behavior_of(key: &PixKey) -> PixBehavior {
    let usual = PixBehavior { failure: None, settles_after: None, loses_reply: false };
    match key.as_str() {
        FAILING_KEY => PixBehavior { failure: Some(SendFailure::NoSuchAccount), ..usual },
        SLOW_KEY => PixBehavior { settles_after: Some(SLOW_SETTLES_AFTER), ..usual },
        LOST_REPLY_KEY => PixBehavior { loses_reply: true, ..usual },
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

/// Returns a valid CPF whose first nine digits are the last nine digits of `number`. The check digits are found by trying all hundred
/// endings.
fn cpf_from(number: u64) -> String {
    let body = number % CPF_BODIES;
    // Nine equal digits have no valid ending: all eleven digits would be equal, and such a CPF is not valid. Then the adjacent number
    // is used.
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
            ["a@example.com", "+5511987654321", "123e4567-e89b-12d3-a456-426655440000", FAILING_KEY, "b@example.com"]
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
