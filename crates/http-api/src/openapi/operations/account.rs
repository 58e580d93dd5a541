//! What is said of the endpoints on the balance, the statement and the timeline.

use cais_domain::ledger::EntryKind;
use cais_domain::timeline::{Direction, TransactionStatus};

use super::parameters::{created, paging, word};
use super::{Description, Success, csv, json, plain};
use crate::error::ErrorCode;
use crate::openapi::examples;

/// `Endpoint::GetBalance`.
pub fn get_balance() -> Description {
    Description {
        errors: &[ErrorCode::ValidationError],
        ..plain(
            "getBalance",
            "balance",
            "Read the balance",
            "In BRL. What is held for payouts and refunds in flight is in none of its parts.",
            vec![json("200", "The balance.", "Balance", examples::balances())],
        )
    }
}

/// `Endpoint::ListEntries`.
pub fn list_entries() -> Description {
    let mut parameters = vec![
        word("bucket", "Of one part of the money.", ["available", "pending", "blocked"]),
        word("kind", "Of one kind.", EntryKind::ALL.map(EntryKind::as_str)),
    ];
    parameters.extend(created().into_iter().chain(paging()));
    parameters.push(word("csv", "A file of all rows in this dialect, whatever `Accept` says.", ["excel-br"]));
    Description {
        parameters,
        errors: &[ErrorCode::ValidationError],
        ..plain(
            "listBalanceEntries",
            "balance",
            "Read the statement",
            "Every movement of the balance, newest first, with cursor pagination. With `Accept: text/csv` all rows of the filter in one file (RFC 4180): then without `limit` and `starting_after`. A text that begins with `=`, `+`, `-` or `@` gets an apostrophe before it. `?csv=excel-br` gives the file as Excel reads it in Brazil: a byte order mark, semicolons, decimal commas, times of São Paulo.",
            vec![with_csv("A page of the statement.", "EntryPage", examples::entries(), examples::entries_csv())],
        )
    }
}

/// `Endpoint::ListTransactions`.
pub fn list_transactions() -> Description {
    let mut parameters = vec![
        word("type", "In one direction.", Direction::ALL.map(Direction::as_str)),
        word("status", "In one status.", TransactionStatus::ALL.map(TransactionStatus::as_str)),
    ];
    parameters.extend(created().into_iter().chain(paging()));
    parameters.push(word("csv", "A file of all rows in this dialect, whatever `Accept` says.", ["excel-br"]));
    Description {
        parameters,
        errors: &[ErrorCode::ValidationError],
        ..plain(
            "listTransactions",
            "transactions",
            "Read the timeline",
            "Charges, payouts and shares in other accounts' charges as one list, newest first, with cursor pagination. With `Accept: text/csv` all rows of the filter in one file (RFC 4180): then without `limit` and `starting_after`.",
            vec![with_csv(
                "A page of the timeline.",
                "TransactionPage",
                examples::transactions(),
                examples::transactions_csv(),
            )],
        )
    }
}

/// `Endpoint::GetTransaction`.
pub fn get_transaction() -> Description {
    Description {
        errors: &[ErrorCode::ValidationError, ErrorCode::NotFound],
        ..plain(
            "getTransaction",
            "transactions",
            "Fetch an entry of the timeline",
            "As it is stored.",
            vec![json("200", "The entry.", "Transaction", examples::transaction())],
        )
    }
}

fn with_csv(
    when: &'static str,
    schema: &'static str,
    page: Option<serde_json::Value>,
    file: Option<serde_json::Value>,
) -> Success {
    let page = json("200", when, schema, page);
    Success { bodies: page.bodies.into_iter().chain([csv(file)]).collect(), ..page }
}
