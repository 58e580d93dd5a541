//! Changes that are due by the simulator's clock: returns and sent Pix become final, charges of Woovi's API expire, and payments and
//! withdrawals of the crypto processor change their statuses.

use std::sync::Arc;

use jiff::SignedDuration;

use crate::{
    crypto::{state::Due, withdrawals::settle_batch},
    psp::{Psp, Store, StoreError},
};

/// The longest sleep between two checks for due changes, and the pause after an error. The sleep is short, because the machine's clock
/// may be set in the meantime.
const LONGEST_SLEEP: SignedDuration = SignedDuration::from_secs(1);

impl Psp {
    /// Applies every change that is due by now. Functions that read objects that change with time call this function first. So they
    /// read the right state even if [`settle_on_time`] has not run yet.
    ///
    /// # Errors
    /// [`StoreError`] if a due change cannot be stored.
    pub fn settle_due(&self) -> Result<(), StoreError> {
        let now = self.clock.now();
        if self.next_due().is_none_or(|due| due > now) {
            return Ok(());
        }
        let mut store = self.write();
        self.settle_refunds(&mut store, now)?;
        self.settle_sends(&mut store, now)?;
        self.settle_expiries(&mut store, now)?;
        self.settle_crypto(&mut store, now)
    }

    /// Moves all due payments and withdrawals of the crypto processor to their next statuses.
    fn settle_crypto(&self, store: &mut Store, now: jiff::Timestamp) -> Result<(), StoreError> {
        while let Some((_, due)) = store.books().crypto().next_due().filter(|(at, _)| *at <= now) {
            match due {
                Due::Payment(id) => self.settle_payment(store, id, now)?,
                Due::Batch(id) => settle_batch(store, id, now)?,
            }
            self.crypto.ipn_wakeup.notify_one();
        }
        Ok(())
    }

    fn next_due(&self) -> Option<jiff::Timestamp> {
        let store = self.read();
        let books = store.books();
        let crypto = books.crypto().next_due().map(|(due, _)| due);
        let expiry = books.woovi().next_expiry().map(|(due, _)| due);
        books.next_refund_due().into_iter().chain(books.sends().next_due()).chain(crypto).chain(expiry).min()
    }
}

/// Applies due changes on time even without reads, so that their callbacks are sent on time too. Never returns.
pub async fn settle_on_time(psp: Arc<Psp>) {
    loop {
        let wait =
            psp.next_due().map(|due| psp.clock.now().duration_until(due).clamp(SignedDuration::ZERO, LONGEST_SLEEP));
        match wait {
            None => psp.settlement_wakeup.notified().await,
            Some(wait) => {
                tokio::select! {
                    () = psp.settlement_wakeup.notified() => {}
                    () = tokio::time::sleep(wait.unsigned_abs()) => {}
                }
            }
        }
        if let Err(error) = psp.settle_due() {
            report(&error);
            tokio::time::sleep(LONGEST_SLEEP.unsigned_abs()).await;
        }
    }
}

fn report(error: &(dyn std::error::Error + 'static)) {
    tracing::error!(error, "due changes of the sandbox could not be applied; the next run tries again");
}
