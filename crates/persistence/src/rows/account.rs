//! Rows of accounts.

use cais_domain::account::{Account, AccountStatus, Features, Kyc, Limits};
use cais_domain::document::Document;
use cais_domain::fee::{FeeRule, FeeSchedule, Operation};
use cais_domain::money::Money;
use cais_domain::rate::Percentage;
use diesel::sql_types::{BigInt, Nullable, Text};

use super::{corrupt, id, instant, small, word};
use crate::error::Fault;
use crate::sql::Value;
use crate::sql::spec::{Kind, Spec};

const TABLE: &str = "accounts";

/// The columns, in the order of a row, of a table that is called `a`.
macro_rules! account_columns {
    () => {
        "a.id, a.email, a.created_at, a.name, a.document, a.status, a.kyc, a.features, a.charge_limit, a.payout_limit, a.release_delay_s, \
         a.pix_in_fixed, a.pix_in_percentage, a.pix_in_min, a.pix_in_max, a.pix_out_fixed, a.pix_out_percentage, a.pix_out_min, a.pix_out_max, \
         a.crypto_in_fixed, a.crypto_in_percentage, a.crypto_in_min, a.crypto_in_max, \
         a.crypto_out_fixed, a.crypto_out_percentage, a.crypto_out_min, a.crypto_out_max, a.version"
    };
}
pub(crate) use account_columns;

type FeeColumns = (BigInt, Text, Nullable<BigInt>, Nullable<BigInt>);
/// Fixed part, percentage, least and greatest fee.
type FeeRow = (i64, String, Option<i64>, Option<i64>);

/// Their types.
pub(crate) type AccountColumns = (
    (Text, Text, BigInt),
    (Text, Text, Text, Text, Text),
    (BigInt, BigInt, BigInt),
    (FeeColumns, FeeColumns, FeeColumns, FeeColumns),
    BigInt,
);

/// Id, e-mail and instant of creation; name, document, status, KYC, features; limits and delay; fees; version.
pub(crate) type AccountRow = (
    (String, String, i64),
    (String, String, String, String, String),
    (i64, i64, i64),
    (FeeRow, FeeRow, FeeRow, FeeRow),
    i64,
);

macro_rules! columns {
    ($($first:expr),*) => {
        &[
            $($first,)*
            ("name", Kind::Text),
            ("document", Kind::Text),
            ("status", Kind::Text),
            ("kyc", Kind::Text),
            ("features", Kind::Text),
            ("charge_limit", Kind::Int),
            ("payout_limit", Kind::Int),
            ("release_delay_s", Kind::Int),
            ("pix_in_fixed", Kind::Int),
            ("pix_in_percentage", Kind::Text),
            ("pix_in_min", Kind::Int),
            ("pix_in_max", Kind::Int),
            ("pix_out_fixed", Kind::Int),
            ("pix_out_percentage", Kind::Text),
            ("pix_out_min", Kind::Int),
            ("pix_out_max", Kind::Int),
            ("crypto_in_fixed", Kind::Int),
            ("crypto_in_percentage", Kind::Text),
            ("crypto_in_min", Kind::Int),
            ("crypto_in_max", Kind::Int),
            ("crypto_out_fixed", Kind::Int),
            ("crypto_out_percentage", Kind::Text),
            ("crypto_out_min", Kind::Int),
            ("crypto_out_max", Kind::Int),
            ("version", Kind::Int),
        ]
    };
}

/// New accounts.
pub(crate) static INSERT: Spec =
    Spec::insert(TABLE, columns!(("id", Kind::Text), ("email", Kind::Text), ("created_at", Kind::Int)));

/// Changed accounts.
pub(crate) static UPDATE: Spec = Spec::update(TABLE, columns!(), &[("id", Kind::Text), ("version", Kind::Int)]);

/// The row of a new account.
pub(crate) fn inserted(account: &Account, version: i64) -> Vec<Value<'_>> {
    let mut row = vec![account.id.into(), account.email.as_str().into(), account.created_at.into()];
    row.extend(changing(account, version));
    row
}

/// The row of a changed account, where `read` is the version that was read.
pub(crate) fn updated(account: &Account, version: i64, read: i64) -> Vec<Value<'_>> {
    let mut row = changing(account, version);
    row.extend([account.id.into(), read.into()]);
    row
}

fn changing(account: &Account, version: i64) -> Vec<Value<'_>> {
    let mut row: Vec<Value<'_>> = vec![
        account.name.as_str().into(),
        account.document.as_str().into(),
        account.status.as_str().into(),
        account.kyc.as_str().into(),
        account.features.to_string().into(),
        account.limits.charge.into(),
        account.limits.payout.into(),
        account.release_delay_s.into(),
    ];
    for operation in Operation::ALL {
        let rule = account.fees.get(operation);
        row.extend([rule.fixed().into(), rule.percentage().to_string().into(), rule.min().into(), rule.max().into()]);
    }
    row.push(version.into());
    row
}

/// The account of a row.
pub(crate) fn read(row: AccountRow) -> Result<Account, Fault> {
    let ((account, email, created_at), (name, document, status, kyc, features), (charge, payout, delay), fees, version) =
        row;
    let (pix_in, pix_out, crypto_in, crypto_out) = fees;
    let fees = FeeSchedule::default()
        .with(Operation::PixIn, rule(pix_in)?)
        .with(Operation::PixOut, rule(pix_out)?)
        .with(Operation::CryptoIn, rule(crypto_in)?)
        .with(Operation::CryptoOut, rule(crypto_out)?);
    Ok(Account {
        id: id(TABLE, &account)?,
        email,
        name,
        document: Document::parse(&document).map_err(|error| corrupt(TABLE, error))?,
        status: word(TABLE, &status, AccountStatus::parse)?,
        kyc: word(TABLE, &kyc, Kyc::parse)?,
        features: Features::parse(&features).map_err(|error| corrupt(TABLE, error))?,
        fees,
        limits: Limits { charge: Money::from_centavos(charge), payout: Money::from_centavos(payout) },
        release_delay_s: small(TABLE, delay)?,
        created_at: instant(TABLE, created_at)?,
        version,
    })
}

fn rule((fixed, percentage, min, max): FeeRow) -> Result<FeeRule, Fault> {
    let percentage = Percentage::parse(&percentage).map_err(|error| corrupt(TABLE, error))?;
    FeeRule::try_new(
        Money::from_centavos(fixed),
        percentage,
        min.map(Money::from_centavos),
        max.map(Money::from_centavos),
    )
    .map_err(|error| corrupt(TABLE, error))
}
