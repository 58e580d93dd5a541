//! When operators are told that little time is left for a defence.

use jiff::Timestamp;

use super::{ALERT_HOURS, Infraction, InfractionState};

impl Infraction {
    /// Whether operators are to be told how little time is left for a defence: the hours of the alert, and the infraction after it.
    #[must_use]
    pub fn alert(self, now: Timestamp) -> Option<(Self, u8)> {
        let deadline = self.deadline_at.filter(|_| self.state == InfractionState::Open && self.defense.is_none())?;
        let left_s = deadline.duration_since(now).as_secs();
        let due = ALERT_HOURS.into_iter().rfind(|hours| left_s <= i64::from(*hours).saturating_mul(3_600))?;
        let told = self.alerted_h.is_some_and(|told| told <= due);
        (left_s > 0 && !told).then_some((Self { alerted_h: Some(due), ..self }, due))
    }
}
