//! All alerts of the service. If a person must act on a log line, the line has the field `alert` with one of these values.
//!
//! To add an alert, add a row here and in docs/OPERATIONS.md. A test compares the two tables. A log line uses the
//! constant, for example `alert = alerts::CLOCK_SKEW`.

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alert {
    /// The value of the field, which never changes, because the monitoring rules of operators contain it.
    pub name: &'static str,
    /// The event and its consequence.
    pub means: &'static str,
    /// The operator's next step.
    pub action: &'static str,
}

macro_rules! alerts {
    ($($constant:ident = $name:literal, $means:literal, $action:literal;)*) => {
        $(#[doc = $means] pub const $constant: &str = $name;)*

        /// The whole table.
        pub const ALL: &[Alert] = &[$(Alert { name: $name, means: $means, action: $action }),*];
    };
}

alerts! {
    ACQUIRER_FILES_UNUSABLE = "acquirer_files_unusable",
        "A changed certificate or secret file of an acquirer cannot be used. Until the file is corrected, calls use the previous content, and a restart fails.",
        "Read `cause` in the line and correct the file. The service reads the corrected file within seconds.";
    CALLBACK_ADDRESS_REJECTED = "callback_address_rejected",
        "A callback with the right secret path came from an IP address outside of `callback_addresses`. The callback is rejected; payments are found by polling meanwhile.",
        "Compare the IP address (`client`) with the acquirer's present ones, and `trusted_proxies` with your proxies. If the IP address is not the acquirer's, the secret callback address may have leaked: raise `callback_generation` twice, as the section \"Acquirers\" of OPERATIONS.md describes.";
    CALLBACK_REGISTRATION_FAILED = "callback_registration_failed",
        "An acquirer refuses our callback address, or Efí refuses payouts because our Pix key has no callback address there. Payments are found by polling meanwhile.",
        "Check `public_url`, and at the acquirer the application's permissions and the certificate. Registration is retried until it succeeds. If the registered address was removed at the acquirer later, restart the service.";
    CALLBACK_SIGNATURE_INVALID = "callback_signature_invalid",
        "The signature of a callback of an acquirer or of the crypto processor is missing or wrong. The callback is rejected; payments are found by polling meanwhile.",
        "Compare `webhook_public_key_file`, `webhook_hmac_secret` or the processor's `ipn_secret` with the sender's present key. If an acquirer's key is right, its callback address may have leaked: raise `callback_generation` twice, as the section \"Acquirers\" of OPERATIONS.md describes.";
    CALLBACK_UNMATCHED = "callback_unmatched",
        "A callback matches no charge, payout, infraction or crypto deposit. Money may have arrived without a matching charge.",
        "Run `cais callback list` and look the txid up at the acquirer. Run `cais callback retry ntc_…` once the acquirer shows the payment.";
    CALLBACK_UNREADABLE = "callback_unreadable",
        "Some items of a callback cannot be read. The other items are processed.",
        "Run `cais reconcile` for the day of the callback. Report the form of the callback as a defect.";
    CALLBACKS_FULL = "callbacks_full",
        "An acquirer has 100,000 open callbacks. Further callbacks are answered 503 until some are processed.",
        "Check the acquirer's status page and `cais_acquirer_breaker_state`: callbacks stay open while the acquirer cannot be read. If the acquirer answers, the callback address may have leaked: raise `callback_generation` twice, as the section \"Acquirers\" of OPERATIONS.md describes.";
    CLOCK_SKEW = "clock_skew",
        "The clock of a node, of the database or of an acquirer is or was wrong. Charges may expire late, and scheduled work may start late.",
        "Compare the clocks of the nodes and the database with a time server. The node's clock alone decides when `pending` money is released.";
    CRYPTO_DEPOSIT_CONTRADICTED = "crypto_deposit_contradicted",
        "The processor's record of a deposit contradicts ours: its order, its address, or its outcome after a credit. The record is not applied.",
        "Look the payment up at the processor. If the coins were returned to the payer, agree on the amount with the merchant.";
    CRYPTO_DEPOSIT_NEEDS_REVIEW = "crypto_deposit_needs_review",
        "A payment of coins needs a decision. It is in another currency than the deposit, over an hour late, unfinished, or was dismissed before. Or the deposit was refunded or never issued, more than twice the requested coins arrived, or the processor shows fewer coins than were credited.",
        "Look the payment up at the processor. Then run `cais crypto review resolve-payment ID` with `--at-rate`, `--credit` or `--dismiss`, or decide at `/operator/crypto`.";
    CRYPTO_DEPOSIT_NOT_SHOWN = "crypto_deposit_not_shown",
        "The processor has not shown an overdue deposit for ten minutes. The deposit stays open, and no coins are credited meanwhile.",
        "Look the payment up at the processor. A changed API key hides older payments.";
    CRYPTO_RATE_JUMPED = "crypto_rate_jumped",
        "The rate of a currency is more than twice, or less than half, the rate of its newest quote (`last`, of the time `last_at`). If that quote is older than a day, the limits are five times and a fifth of its rate. Quotes of the currency are refused while the rate is outside the limits. The alert is repeated for each refused quote.",
        "Compare the price at the processor and the Central Bank's rate with the market. Report a wrong price to its source. If the new rate is right, run `cais crypto rate accept`.";
    CRYPTO_USD_RATE_OLD = "crypto_usd_rate_old",
        "The Central Bank's newest rate of the US dollar is over four days and six hours old: older than after a weekend with one holiday. Quotes use the rate until it is six days old.",
        "Compare the rate with the Central Bank's page of PTAX. Around Carnival and Christmas such an age is normal. Otherwise disable `crypto_in` and `crypto_out`, or raise the spread, until a new rate is published.";
    CRYPTO_WITHDRAWAL_CONTRADICTED = "crypto_withdrawal_contradicted",
        "The processor's record of a withdrawal contradicts ours: its coins, its address, its batch, or its outcome after a final state.",
        "Look the withdrawal up at the processor, by its id, and agree on the difference with the merchant.";
    CRYPTO_WITHDRAWAL_NEEDS_REVIEW = "crypto_withdrawal_needs_review",
        "The processor reports an error of a withdrawal, or has not shown the withdrawal for ten minutes. The withdrawal stays `processing` and its money stays held.",
        "Look the withdrawal up at the processor, by its id, and at the chain. Ask the processor's support before you decide `failed`. Then run `cais crypto review resolve cwd_…` with `--outcome sent` or `--outcome failed`, or decide at `/operator/crypto`.";
    CRYPTO_WITHDRAWAL_UNVERIFIED = "crypto_withdrawal_unverified",
        "A created withdrawal could not be verified for ten minutes. An hour after its creation the processor rejects an unverified withdrawal. The held money then becomes available again.",
        "Compare `totp_secret` with the processor's account, and the node's clock with a time server.";
    DATABASE_LANGUAGE = "database_language",
        "PostgreSQL's messages are not in English. Some conflicts are not recognized, and their callers receive errors.",
        "Set `lc_messages` to `C` for the role or the database.";
    DEFENSE_OUTCOME_UNPROVEN = "defense_outcome_unproven",
        "The acquirer refuses a defense and does not list its infraction. Or eight checks, in about five minutes, did not show whether the acquirer has the defense.",
        "Look the infraction up at the acquirer, before its deadline.";
    DEFENSE_REFUSED = "defense_refused",
        "The acquirer refused a defense. The infraction is undefended again.",
        "Read `reason` in the line. Ask the merchant for another defense before the deadline.";
    ENDPOINT_DISABLED = "endpoint_disabled",
        "A webhook endpoint was disabled: its receiver answered 410, or failed for five days. The merchant receives no webhooks at this endpoint.",
        "Inform the merchant, who enables the endpoint again with `PATCH /v1/webhook-endpoints/{id}`.";
    ENDPOINT_SECRET_UNREADABLE = "endpoint_secret_unreadable",
        "The secret of a webhook endpoint cannot be decrypted. Its deliveries fail.",
        "Ask the merchant to rotate the secret of the endpoint. If several endpoints raise this alert, compare the master key with its backup.";
    FILE_LIMIT_LOW = "file_limit_low",
        "The limit of open files permits fewer than 1,000 connections.",
        "Raise `LimitNOFILE` or `ulimit -Hn`, and restart.";
    HOUSEKEEPING_FAILED = "housekeeping_failed",
        "Old rows of a table could not be removed. The table grows until a later run succeeds.",
        "Read `fault` in the line. The next run tries again.";
    INFRACTION_CONTRADICTED = "infraction_contradicted",
        "An acquirer's report of an infraction contradicts the stored records. The report is not applied.",
        "Compare the infraction with the acquirer's record of it, and agree on the difference with the acquirer.";
    INFRACTION_LIST_INCOMPLETE = "infraction_list_incomplete",
        "An acquirer's list of infractions has unreadable rows, or more pages than are read. Infractions may be missing.",
        "Compare the acquirer's list with `cais infraction list`. Report an unreadable row as a defect.";
    INFRACTION_NEEDS_REVIEW = "infraction_needs_review",
        "An infraction cannot be decided from the acquirer's records: a return is unexplained or missing, or a reopening was not seen. Its money stays blocked.",
        "Run `cais infraction show ID` and compare the Pix with the acquirer's statement. Decide by `cais infraction resolve ID` or at `/operator/infractions`.";
    INFRACTION_NOT_SHOWN = "infraction_not_shown",
        "An infraction has been open for more than 90 days, and its acquirer does not list it. Its money stays blocked.",
        "Ask the acquirer for the outcome.";
    INFRACTION_SHORTFALL = "infraction_shortfall",
        "An infraction was lost, and the blocked money was less than the infraction's amount.",
        "Agree on the difference with the merchant.";
    INFRACTION_UNDEFENDED = "infraction_undefended",
        "An infraction has no defense 48, 24 or 6 hours before its deadline. Undefended infractions are usually lost.",
        "Inform the merchant.";
    INFRACTION_UNMATCHED = "infraction_unmatched",
        "An infraction is about a Pix that was not credited here. Either another system uses the acquirer's account, or the service missed the payment.",
        "Look the end-to-end id up at the acquirer.";
    PANIC = "panic",
        "A part of the service panicked and was started again. Unfinished work is done again.",
        "Report the defect with the lines before this one.";
    PAYMENT_AMBIGUOUS = "payment_ambiguous",
        "An acquirer reports one Pix for two charges. The Pix was credited only to the charge in `by`.",
        "Compare both charges with the acquirer's record of the Pix.";
    PAYMENT_RETURNED = "payment_returned",
        "A received Pix was returned at the acquirer, and no refund or infraction of ours explains it.",
        "Ask the acquirer which party returned the Pix. Agree on the amount with the merchant.";
    PAYOUT_CONTRADICTED = "payout_contradicted",
        "The acquirer's record of a payout contradicts ours: its amount, its instruction id, or its outcome after a final state.",
        "Look the payout up at the acquirer, by its instruction id (the payout id without `pyt_`), and agree on the difference with the merchant.";
    PAYOUT_NOT_APPROVED = "payout_not_approved",
        "A payout was created at its acquirer, and its approval was refused or lost. The payout stays `processing`, and the approval is repeated.",
        "Read `error` in the line. Top up the account at the acquirer if money is missing. To end the payout, deny the payment at the acquirer.";
    PAYOUT_OUTCOME_UNPROVEN = "payout_outcome_unproven",
        "An acquirer refuses a payout that may have been executed, or has not shown the payout for ten minutes. The payout stays `processing` and its money stays held.",
        "Look the payout up at the acquirer, by its instruction id (the payout id without `pyt_`).";
    PAYOUT_RETURN_UNCREDITED = "payout_return_uncredited",
        "A reported return of a payout was not credited. The payout's state or amount excludes the return, the acquirer does not confirm the return, or the return's id is unreadable or belongs to another payout or to a refund.",
        "Look the return up at the acquirer. If it is the return of a completed payout, run `cais payout credit-return`; otherwise agree on the amount with the merchant.";
    RATE_LIMITS_NOT_SHARED = "rate_limits_not_shared",
        "Redis cannot be reached. Each node counts its own requests only, so an API key may use its whole limit at each node.",
        "Check Redis and the network. Nodes reconnect within seconds after Redis answers again.";
    RECONCILE_DIFFERENCE = "reconcile_difference",
        "The ledger differs from an acquirer or from the crypto processor. The service does not correct the difference, because that could move money twice.",
        "The line shows both values (`ours`, `theirs`). Compare them with the statement of the acquirer or processor.";
    RECONCILE_ROW_UNREADABLE = "reconcile_row_unreadable",
        "An acquirer lists a Pix, or the crypto processor a payment or withdrawal, in a form that cannot be read. The other rows are compared.",
        "Look the named row up at the acquirer or processor. Report the form as a defect.";
    RECORD_UNREADABLE = "record_unreadable",
        "A row of the database cannot be read or written back. The work on this row waits, and other work continues.",
        "Keep the row unchanged until you have found the program that changed it: the service never writes such a row. Then restore the row from a backup.";
    REFUND_CONTRADICTED = "refund_contradicted",
        "The acquirer's record of a refund contradicts ours: its amount, its return id, or its outcome after a final state.",
        "Look the return up at the acquirer, and agree on the difference with the merchant.";
    REFUND_OUTCOME_UNPROVEN = "refund_outcome_unproven",
        "An acquirer refuses a refund that may have been executed, or has not shown the refund for ten minutes. The refund stays `processing` and its money stays held.",
        "Look the return up at the acquirer, by its Pix and the refund's id without `rfd_`.";
    RELEASE_FAILED = "release_failed",
        "Money whose release is due could not be moved from `pending` to `available`.",
        "Read `error` in the line. The release is tried again each second. Act only if the line is repeated for a minute.";
    ROOT_CERTIFICATES_MISSING = "root_certificates_missing",
        "The system has no root certificates. No webhook can be delivered to an `https` address.",
        "Install the package `ca-certificates`, and restart.";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::ALL;

    const OPERATIONS: &str = include_str!("../../../docs/OPERATIONS.md");

    #[test]
    fn alerts_match_the_table_in_operations() {
        let section = OPERATIONS.split("\n### Alerts\n").nth(1).unwrap_or_default();
        let section = section.split("\n#").next().unwrap_or_default();
        let documented: BTreeSet<String> =
            section.lines().filter(|line| line.starts_with("| `")).map(ToOwned::to_owned).collect();
        let in_code: BTreeSet<String> =
            ALL.iter().map(|row| format!("| `{}` | {} | {} |", row.name, row.means, row.action)).collect();
        assert_eq!(in_code.len(), ALL.len(), "two alerts have the same row");
        let missing: Vec<_> = in_code.difference(&documented).collect();
        let stale: Vec<_> = documented.difference(&in_code).collect();
        assert!(
            missing.is_empty() && stale.is_empty(),
            "missing in the page: {missing:#?}\nonly in the page: {stale:#?}"
        );
    }

    #[test]
    fn alert_names_are_unique_and_sorted() {
        let names: Vec<_> = ALL.iter().map(|row| row.name).collect();
        assert!(names.is_sorted_by(|one, next| one < next), "{names:?}");
    }
}
