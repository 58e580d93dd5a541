//! Disputes of Woovi's API. A dispute is an infraction of the institution. Its defense consists of documents, the evidence.

use super::{
    error::WooviError,
    state::{WooviChange, payment::Document},
};
use crate::{
    psp::Psp,
    state::{
        Books,
        change::Change,
        infraction::{Infraction, InfractionStatus},
        infractions::InfractionStep,
    },
};

/// Returns the infraction with this id, or the newest one of the Pix with this end-to-end id.
///
/// # Errors
/// 400 `Dispute not found` if there is none.
pub fn find<'a>(books: &'a Books, id: &str) -> Result<&'a Infraction, WooviError> {
    let by_id = books.infractions().find(id).map(|(_, infraction)| infraction);
    let by_pix = || books.infractions().all().iter().rev().find(|infraction| *infraction.end_to_end_id == *id);
    by_id.or_else(by_pix).ok_or_else(|| WooviError::not_found("Dispute"))
}

impl Psp {
    /// Accepts evidence until the deadline, any number of times. A document is ignored if an earlier request for the same dispute had a
    /// document with its `correlationID`.
    ///
    /// # Errors
    /// [`WooviError`] for an unknown or resolved dispute, and after the deadline. Refused requests for a known dispute are counted in
    /// [`Infraction::requests`] too.
    pub fn send_evidence(&self, id: &str, documents: &[Document]) -> Result<(), WooviError> {
        let now = self.clock.now();
        let mut store = self.write();
        let infraction = find(store.books(), id)?;
        let refusal = match infraction.status {
            InfractionStatus::Open | InfractionStatus::Defended if now > infraction.deadline_at() => {
                Some("You cannot send a evidence after the deadline")
            }
            InfractionStatus::Open | InfractionStatus::Defended => None,
            InfractionStatus::Accepted => Some("You cannot send a evidence for a accepted dispute"),
            InfractionStatus::Rejected => Some("You cannot send a evidence for a rejected dispute"),
            InfractionStatus::Cancelled => Some("You cannot send a evidence for a canceled dispute"),
        };
        let id = infraction.id.clone();
        if let Some(reason) = refusal {
            let step = InfractionStep::DefenseRefused;
            store.commit(Change::InfractionChanged { id, step, refund: None, notify: None })?;
            return Err(WooviError::refused(reason));
        }
        let known = store.books().woovi().evidence(&id);
        let is_new = |document: &&Document| {
            document.correlation_id.is_none()
                || known.iter().all(|other| other.correlation_id != document.correlation_id)
        };
        let documents: Vec<Document> = documents.iter().filter(is_new).cloned().collect();
        if documents.is_empty() {
            return Ok(());
        }
        Ok(self.commit_woovi(&mut store, WooviChange::Evidence { id, documents, at: now })?)
    }
}
