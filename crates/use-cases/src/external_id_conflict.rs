//! A request whose external id belongs to a resource with other material data.

/// The owner of the external id, and the fields that differ.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the external id belongs to {owner}, which has another {}", .fields.join(" and another "))]
pub struct ExternalIdConflict {
    /// The public id of the owner.
    pub owner: String,
    /// The names of the fields that differ, as in the API; at least one.
    pub fields: Vec<&'static str>,
}

impl ExternalIdConflict {
    /// Compares the owner with a request. Each field is `true` if both have the same value.
    ///
    /// # Errors
    /// A field differs.
    pub(crate) fn unless_same(owner: &str, fields: impl IntoIterator<Item = (&'static str, bool)>) -> Result<(), Self> {
        let fields: Vec<_> = fields.into_iter().filter(|(_, is_same)| !is_same).map(|(name, _)| name).collect();
        if fields.is_empty() { Ok(()) } else { Err(Self { owner: owner.to_owned(), fields }) }
    }
}
