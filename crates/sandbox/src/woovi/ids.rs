//! Ids in the form of the API.

use base64::{Engine, engine::general_purpose::STANDARD};

/// Returns a `globalID`: the base64 form of a type and an id.
#[must_use]
pub fn global(kind: &str, id: &str) -> String {
    STANDARD.encode(format!("{kind}:{id}"))
}

/// Returns the id in a `globalID` of this type; `None` for another text.
#[must_use]
pub fn local(kind: &str, global: &str) -> Option<String> {
    let text = String::from_utf8(STANDARD.decode(global).ok()?).ok()?;
    let (found, id) = text.split_once(':')?;
    (found == kind).then(|| id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn global_id_has_its_type() {
        let id = global("Charge", "7191f1b0");
        assert_eq!(local("Charge", &id).as_deref(), Some("7191f1b0"));
        assert_eq!(local("Webhook", &id), None);
        assert_eq!(local("Charge", "7191f1b0"), None);
    }
}
