//! Rows of accounts.

use std::borrow::Cow;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::crypto::rate::parse_spread;
use cais_domain::document::Document;
use cais_domain::fee::{FeeRule, FeeSchedule, Operation};
use cais_domain::merchant::account::{Account, AccountStatus, Features, Kyc, Limits};
use cais_domain::money::Money;
use cais_domain::rate::Percentage;

use super::{Record, acquirer, id, instant, parse_enum, parsed, to_u32};
use crate::error::Fault;
use crate::sql::table::table;

const TABLE: &str = "accounts";

table! {
    /// The row of an account.
    AccountRow of accounts
    key { id: Text }
    fixed { email: Text, created_at: BigInt }
    changing {
        version: BigInt, name: Text, document: Text, status: Text, kyc: Text, features: Text,
        charge_limit: BigInt, payout_limit: BigInt, release_delay_s: BigInt, crypto_spread: Nullable<Text>,
        acquirers: Text,
        pix_in_fixed: BigInt, pix_in_percentage: Text, pix_in_min: Nullable<BigInt>, pix_in_max: Nullable<BigInt>,
        pix_out_fixed: BigInt, pix_out_percentage: Text, pix_out_min: Nullable<BigInt>, pix_out_max: Nullable<BigInt>,
        crypto_in_fixed: BigInt, crypto_in_percentage: Text, crypto_in_min: Nullable<BigInt>, crypto_in_max: Nullable<BigInt>,
        crypto_out_fixed: BigInt, crypto_out_percentage: Text, crypto_out_min: Nullable<BigInt>, crypto_out_max: Nullable<BigInt>,
    }
}

impl Record for Account {
    type Row<'a> = AccountRow<'a>;

    fn row(&self, version: i64) -> AccountRow<'_> {
        let [pix_in, pix_out, crypto_in, crypto_out] =
            [Operation::PixIn, Operation::PixOut, Operation::CryptoIn, Operation::CryptoOut].map(|of| {
                let rule = self.fees.get(of);
                (
                    rule.fixed().centavos(),
                    Cow::Owned(rule.percentage().to_string()),
                    rule.min().map(Money::centavos),
                    rule.max().map(Money::centavos),
                )
            });
        AccountRow {
            id: self.id.to_string().into(),
            email: self.email.as_str().into(),
            created_at: self.created_at.as_microsecond(),
            version,
            name: self.name.as_str().into(),
            document: self.document.as_str().into(),
            status: self.status.as_str().into(),
            kyc: self.kyc.as_str().into(),
            features: self.features.to_string().into(),
            charge_limit: self.limits.charge.centavos(),
            payout_limit: self.limits.payout.centavos(),
            release_delay_s: self.release_delay_s.into(),
            crypto_spread: self.crypto_spread.as_ref().map(|spread| Cow::Owned(spread.to_string())),
            acquirers: joined(&self.acquirers).into(),
            pix_in_fixed: pix_in.0,
            pix_in_percentage: pix_in.1,
            pix_in_min: pix_in.2,
            pix_in_max: pix_in.3,
            pix_out_fixed: pix_out.0,
            pix_out_percentage: pix_out.1,
            pix_out_min: pix_out.2,
            pix_out_max: pix_out.3,
            crypto_in_fixed: crypto_in.0,
            crypto_in_percentage: crypto_in.1,
            crypto_in_min: crypto_in.2,
            crypto_in_max: crypto_in.3,
            crypto_out_fixed: crypto_out.0,
            crypto_out_percentage: crypto_out.1,
            crypto_out_min: crypto_out.2,
            crypto_out_max: crypto_out.3,
        }
    }

    fn read(row: AccountRow<'_>) -> Result<Self, Fault> {
        let fees = FeeSchedule::default()
            .with(Operation::PixIn, rule(row.pix_in_fixed, &row.pix_in_percentage, row.pix_in_min, row.pix_in_max)?)
            .with(
                Operation::PixOut,
                rule(row.pix_out_fixed, &row.pix_out_percentage, row.pix_out_min, row.pix_out_max)?,
            )
            .with(
                Operation::CryptoIn,
                rule(row.crypto_in_fixed, &row.crypto_in_percentage, row.crypto_in_min, row.crypto_in_max)?,
            )
            .with(
                Operation::CryptoOut,
                rule(row.crypto_out_fixed, &row.crypto_out_percentage, row.crypto_out_min, row.crypto_out_max)?,
            );
        Ok(Self {
            id: id(TABLE, &row.id)?,
            email: row.email.into_owned(),
            name: row.name.into_owned(),
            document: parsed(TABLE, Document::parse(&row.document))?,
            status: parse_enum(TABLE, &row.status, AccountStatus::parse)?,
            kyc: parse_enum(TABLE, &row.kyc, Kyc::parse)?,
            features: parsed(TABLE, Features::parse(&row.features))?,
            fees,
            limits: Limits {
                charge: Money::from_centavos(row.charge_limit),
                payout: Money::from_centavos(row.payout_limit),
            },
            release_delay_s: to_u32(TABLE, row.release_delay_s)?,
            crypto_spread: row.crypto_spread.map(|spread| parsed(TABLE, parse_spread(&spread))).transpose()?,
            acquirers: names(&row.acquirers)?,
            created_at: instant(TABLE, row.created_at)?,
            version: row.version,
        })
    }
}

/// Returns the names, separated by commas.
fn joined(names: &[AcquirerName]) -> String {
    names.iter().map(AcquirerName::as_str).collect::<Vec<_>>().join(",")
}

fn names(list: &str) -> Result<Vec<AcquirerName>, Fault> {
    list.split(',').filter(|name| !name.is_empty()).map(|name| acquirer(TABLE, name)).collect()
}

fn rule(fixed: i64, percentage: &str, min: Option<i64>, max: Option<i64>) -> Result<FeeRule, Fault> {
    let percentage = parsed(TABLE, Percentage::parse(percentage))?;
    let rule = FeeRule::try_new(
        Money::from_centavos(fixed),
        percentage,
        min.map(Money::from_centavos),
        max.map(Money::from_centavos),
    );
    parsed(TABLE, rule)
}
