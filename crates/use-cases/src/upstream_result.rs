//! The decision table for orders that an acquirer or crypto processor executes: payouts, refunds, defenses, deposits,
//! withdrawals, and charges that are requested again.
//!
//! Each request for an order has a reply. Two reads of the acquirer give evidence: a look-up by the order's identifier,
//! and the list of orders around the time of the request. [`decide`] maps the earlier requests, the reply, the look-up
//! and the list to one [`UpstreamResult`].
//!
//! An order fails only on proof: a record of the order itself, or a refusal with a business reason while the reads show
//! no order. If the refused request was the first, the look-up must show no order. If an earlier request has an unknown
//! outcome, the look-up and the list must both show no order.

use cais_ports::AcquirerError;

/// The state of earlier requests for the same order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EarlierRequests {
    /// No request was sent, or the acquirer certainly accepted none.
    None,
    /// A request may still be in transit, so no read can prove the absence of the order.
    InFlight,
    /// An earlier request has an unknown outcome. The request is so old that it has arrived or never will.
    Unknown,
    /// The acquirer has shown the order before.
    Shown,
}

/// The reply to a request for an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SendReply<T> {
    /// The acquirer accepted the order.
    Accepted(T),
    /// The acquirer refused the order for a business reason.
    Refused(String),
    /// This request certainly did not create the order. A later request may create it.
    NotAccepted(String),
    /// This request may have created the order.
    Unknown(String),
}

/// The result of a read that looks for an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Evidence<T> {
    /// The acquirer has the order.
    Found(T),
    /// The acquirer answers that it has no such order.
    Absent,
    /// The answer is missing or not reliable.
    Unreadable(String),
    /// The read was not made.
    NotRead,
}

/// The state of an order at its acquirer, as far as it is proven.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UpstreamResult<T> {
    /// The acquirer has the order, and this is its record.
    Known(T),
    /// The order is permanently refused, and the acquirer does not have it.
    Refused(String),
    /// The acquirer certainly does not have the order, but may accept it later.
    NotAccepted(String),
    /// The acquirer may have the order.
    Unknown(String),
    /// The acquirer refuses the order but may have it. An operator must review the order.
    RefusedUnproven(String),
}

impl<T> Evidence<T> {
    /// The evidence of the list for an order whose look-up alone proves its absence. No list is read.
    pub(crate) const LIST_NOT_NEEDED: Self = Self::Absent;

    /// Returns the text that is appended to a reason if the read failed, and an empty text otherwise.
    fn failure(&self, read: &str) -> String {
        match self {
            Self::Unreadable(cause) => format!("; {read} failed: {cause}"),
            Self::Found(_) | Self::Absent | Self::NotRead => String::new(),
        }
    }
}

impl<T> From<Result<T, AcquirerError>> for SendReply<T> {
    fn from(reply: Result<T, AcquirerError>) -> Self {
        match reply {
            Ok(record) => Self::Accepted(record),
            Err(AcquirerError::Refused(reason)) => Self::Refused(reason),
            Err(AcquirerError::Unavailable(reason)) => Self::NotAccepted(reason),
            Err(AcquirerError::OutcomeUnknown(reason)) => Self::Unknown(reason),
        }
    }
}

impl<T> From<Result<Option<T>, AcquirerError>> for Evidence<T> {
    fn from(read: Result<Option<T>, AcquirerError>) -> Self {
        match read {
            Ok(Some(record)) => Self::Found(record),
            Ok(None) => Self::Absent,
            Err(error) => Self::Unreadable(error.to_string()),
        }
    }
}

/// Returns the state of an order after a request and the reads that followed. The reason of `Unknown` or
/// `RefusedUnproven` also names the reads that failed.
pub(crate) fn decide<T>(
    earlier: EarlierRequests,
    reply: SendReply<T>,
    look_up: Evidence<T>,
    list: Evidence<T>,
) -> UpstreamResult<T> {
    use Evidence::{Absent, Found, NotRead, Unreadable};
    let failures = look_up.failure("look-up") + &list.failure("list");
    match (reply, look_up, list, earlier) {
        // A record of the order outweighs every reply.
        (SendReply::Accepted(record), _, _, _) | (_, Found(record), _, _) | (_, _, Found(record), _) => {
            UpstreamResult::Known(record)
        }
        (SendReply::Refused(reason), Absent, _, EarlierRequests::None)
        | (SendReply::Refused(reason), Absent, Absent, EarlierRequests::Unknown) => UpstreamResult::Refused(reason),
        (SendReply::NotAccepted(reason), _, _, EarlierRequests::None) => UpstreamResult::NotAccepted(reason),
        (
            SendReply::Refused(reason),
            Absent | Unreadable(_) | NotRead,
            _,
            EarlierRequests::Unknown | EarlierRequests::Shown,
        ) => UpstreamResult::RefusedUnproven(reason + &failures),
        (SendReply::Refused(reason), Unreadable(_) | NotRead, _, EarlierRequests::None)
        | (SendReply::Refused(reason), _, _, EarlierRequests::InFlight)
        | (
            SendReply::NotAccepted(reason),
            _,
            _,
            EarlierRequests::InFlight | EarlierRequests::Unknown | EarlierRequests::Shown,
        )
        | (SendReply::Unknown(reason), _, _, _) => UpstreamResult::Unknown(reason + &failures),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EARLIER: [EarlierRequests; 4] =
        [EarlierRequests::None, EarlierRequests::InFlight, EarlierRequests::Unknown, EarlierRequests::Shown];

    fn replies() -> [SendReply<&'static str>; 4] {
        let reason = || "reply".to_owned();
        [
            SendReply::Accepted("accepted"),
            SendReply::Refused(reason()),
            SendReply::NotAccepted(reason()),
            SendReply::Unknown(reason()),
        ]
    }

    fn reads(record: &'static str) -> [Evidence<&'static str>; 4] {
        [Evidence::Found(record), Evidence::Absent, Evidence::Unreadable("no answer".to_owned()), Evidence::NotRead]
    }

    /// The table, written by hand. Columns: earlier requests, reply, look-up, list, result. `*` stands for every value.
    const TABLE: &[[&str; 5]] = &[
        ["*", "Accepted", "*", "*", "Known accepted"],
        ["*", "Refused NotAccepted Unknown", "Found", "*", "Known look-up"],
        ["*", "Refused NotAccepted Unknown", "Absent Unreadable NotRead", "Found", "Known list"],
        // The first request.
        ["None", "Refused", "Absent", "Absent Unreadable NotRead", "Refused"],
        ["None", "Refused", "Unreadable NotRead", "Absent Unreadable NotRead", "Unknown"],
        ["None", "NotAccepted", "Absent Unreadable NotRead", "Absent Unreadable NotRead", "NotAccepted"],
        ["None", "Unknown", "Absent Unreadable NotRead", "Absent Unreadable NotRead", "Unknown"],
        // An earlier request may be in transit.
        [
            "InFlight",
            "Refused NotAccepted Unknown",
            "Absent Unreadable NotRead",
            "Absent Unreadable NotRead",
            "Unknown",
        ],
        // An earlier request has an unknown outcome.
        ["Unknown", "Refused", "Absent", "Absent", "Refused"],
        ["Unknown", "Refused", "Absent", "Unreadable NotRead", "RefusedUnproven"],
        ["Unknown", "Refused", "Unreadable NotRead", "Absent Unreadable NotRead", "RefusedUnproven"],
        ["Unknown", "NotAccepted Unknown", "Absent Unreadable NotRead", "Absent Unreadable NotRead", "Unknown"],
        // The acquirer has shown the order before.
        ["Shown", "Refused", "Absent Unreadable NotRead", "Absent Unreadable NotRead", "RefusedUnproven"],
        ["Shown", "NotAccepted Unknown", "Absent Unreadable NotRead", "Absent Unreadable NotRead", "Unknown"],
    ];

    /// Returns the first word of the `Debug` text.
    fn name(value: &impl std::fmt::Debug) -> String {
        format!("{value:?}").split('(').next().unwrap_or_default().to_owned()
    }

    fn describe(result: &UpstreamResult<&'static str>, failures: &str) -> String {
        match result {
            UpstreamResult::Known(record) => return format!("Known {record}"),
            UpstreamResult::Refused(reason) | UpstreamResult::NotAccepted(reason) => assert_eq!(reason, "reply"),
            UpstreamResult::Unknown(reason) | UpstreamResult::RefusedUnproven(reason) => {
                assert_eq!(*reason, format!("reply{failures}"), "the reason names the failed reads");
            }
        }
        name(result)
    }

    fn expected(case: [&str; 4]) -> Vec<&'static str> {
        let fits = |row: &&[&str; 5]| {
            row.iter().zip(case).all(|(field, value)| *field == "*" || field.split(' ').any(|one| one == value))
        };
        TABLE.iter().filter(fits).filter_map(|row| row.last().copied()).collect()
    }

    #[test]
    fn decision_table_covers_each_combination_once() {
        let mut cases = 0;
        for earlier in EARLIER {
            for reply in replies() {
                for look_up in reads("look-up") {
                    for list in reads("list") {
                        let case = [name(&earlier), name(&reply), name(&look_up), name(&list)];
                        let failures: String =
                            [(&look_up, "; look-up failed: no answer"), (&list, "; list failed: no answer")]
                                .into_iter()
                                .filter(|(read, _)| matches!(read, Evidence::Unreadable(_)))
                                .map(|(_, text)| text)
                                .collect();
                        let result = decide(earlier, reply.clone(), look_up.clone(), list);
                        let in_table = expected(case.each_ref().map(String::as_str));
                        assert_eq!(in_table, [describe(&result, &failures)], "{case:?}");
                        cases += 1;
                    }
                }
            }
        }
        assert_eq!(cases, 256);
    }
}
