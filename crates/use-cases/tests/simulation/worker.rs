//! The workers of a node.

use cais_use_cases::charges::expire;
use cais_use_cases::crypto::{deposits, withdrawals};
use cais_use_cases::{Ports, WorkError, callbacks, infractions, payouts, refunds, resume};

/// The workers that handle orders.
#[derive(Debug, Clone, Copy)]
pub enum Worker {
    Resume,
    Payouts,
    Refunds,
    Infractions,
    Defenses,
    Expiry,
    Callbacks,
    Withdrawals,
    Deposits,
}

impl Worker {
    pub const ALL: [Self; 9] = [
        Self::Resume,
        Self::Payouts,
        Self::Refunds,
        Self::Infractions,
        Self::Defenses,
        Self::Expiry,
        Self::Callbacks,
        Self::Withdrawals,
        Self::Deposits,
    ];

    pub async fn run(self, ports: &Ports) -> Result<(), WorkError> {
        match self {
            Self::Resume => resume::run_once(ports).await,
            Self::Payouts => payouts::poll::run_once(ports).await,
            Self::Refunds => refunds::poll::run_once(ports).await,
            Self::Infractions => infractions::poll::run_once(ports).await,
            Self::Defenses => infractions::poll_defenses::run_once(ports).await,
            Self::Expiry => expire::run_once(ports).await,
            Self::Callbacks => callbacks::process::run_once(ports).await,
            Self::Withdrawals => withdrawals::poll::run_once(ports).await,
            Self::Deposits => deposits::poll::run_once(ports).await,
        }
        .map(drop)
    }
}
