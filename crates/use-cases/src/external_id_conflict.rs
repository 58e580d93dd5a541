//! The error of a request whose external id belongs to a resource with other data.

/// The owner of the external id, and the fields that differ.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the external id belongs to {owner}, which has another {}", .fields.join(" and another "))]
pub struct ExternalIdConflict {
    /// The public id of the owner.
    pub owner: String,
    /// The API's names of the fields that differ, at least one.
    pub fields: Vec<&'static str>,
}

impl ExternalIdConflict {
    /// Compares the owner with a request. `fields` has each field's name, with `true` if the values are equal.
    ///
    /// # Errors
    /// [`ExternalIdConflict`] if a field differs.
    pub(crate) fn unless_same(owner: &str, fields: impl IntoIterator<Item = (&'static str, bool)>) -> Result<(), Self> {
        let fields: Vec<_> = fields.into_iter().filter(|(_, is_same)| !is_same).map(|(name, _)| name).collect();
        if fields.is_empty() { Ok(()) } else { Err(Self { owner: owner.to_owned(), fields }) }
    }
}
