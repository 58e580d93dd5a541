//! Alerts to operators about the time that is left for a defense.

use jiff::Timestamp;

use super::{ALERT_HOURS, Infraction, InfractionState};

impl Infraction {
    /// Returns the infraction with the recorded alert, and the entry of [`ALERT_HOURS`] that was reached. Returns
    /// `None` if no alert is due.
    #[must_use]
    pub fn alert(self, now: Timestamp) -> Option<(Self, u8)> {
        let deadline = self.deadline_at.filter(|_| self.state == InfractionState::Open && self.defense.is_none())?;
        let left_s = deadline.duration_since(now).as_secs();
        let due = ALERT_HOURS.into_iter().rfind(|hours| left_s <= i64::from(*hours).saturating_mul(3_600))?;
        let alerted = self.alerted_h.is_some_and(|hours| hours <= due);
        (left_s > 0 && !alerted).then_some((Self { alerted_h: Some(due), ..self }, due))
    }
}
