//! A merchant's account: holder, permissions, fees and limits.

use std::fmt;

use jiff::Timestamp;

use crate::acquirer_name::AcquirerName;
use crate::document::Document;
use crate::fee::FeeSchedule;
use crate::ids::AccountId;
use crate::money::Money;
use crate::rate::Percentage;

/// Both limits of a new account ([`Limits`]): R$ 50,000.00 for a single operation.
pub const DEFAULT_LIMIT: Money = Money::from_centavos(5_000_000);

named! {
    /// The operator's decision whether an account can write.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum AccountStatus {
        /// Read and write access.
        Active = "active",
        /// Read access only.
        Suspended = "suspended",
    }
}

named! {
    /// The state of the holder's identity check (KYC).
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Kyc {
        /// No decision yet.
        Pending = "pending",
        /// The account may use its enabled features.
        Approved = "approved",
        /// The account may not use its enabled features.
        Rejected = "rejected",
    }
}

named! {
    /// A function that an operator can switch on for an account.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Feature {
        /// Pix charges.
        PixIn = "pix_in",
        /// Pix payouts.
        PixOut = "pix_out",
        /// The division of a charge among accounts.
        Split = "split",
        /// Crypto deposits.
        CryptoIn = "crypto_in",
        /// Crypto withdrawals.
        CryptoOut = "crypto_out",
    }
}

impl Feature {
    const fn bit(self) -> u8 {
        match self {
            Self::PixIn => 1,
            Self::PixOut => 2,
            Self::Split => 4,
            Self::CryptoIn => 8,
            Self::CryptoOut => 16,
        }
    }
}

/// A set of features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Features(u8);

impl Features {
    /// The features that approval enables: `pix_in` and `pix_out`.
    pub const APPROVED: Self = Self(3);

    /// Returns whether the feature is enabled.
    #[must_use]
    pub const fn contains(self, feature: Feature) -> bool {
        self.0 & feature.bit() != 0
    }

    /// Returns the set with the feature enabled.
    #[must_use]
    pub const fn with(self, feature: Feature) -> Self {
        Self(self.0 | feature.bit())
    }

    /// Returns the set with the feature disabled.
    #[must_use]
    pub const fn without(self, feature: Feature) -> Self {
        Self(self.0 & !feature.bit())
    }

    /// Returns the features that are in at least one of the sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the enabled features in the order of [`Feature::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Feature> {
        Feature::ALL.into_iter().filter(move |feature| self.contains(*feature))
    }

    /// Parses a comma-separated list of names. Empty names and the white space around names are ignored.
    ///
    /// # Errors
    /// [`UnknownFeature`] with the first unknown name.
    pub fn parse(list: &str) -> Result<Self, UnknownFeature> {
        list.split(',').map(str::trim).filter(|word| !word.is_empty()).try_fold(Self::default(), |set, word| {
            Feature::parse(word).map(|feature| set.with(feature)).ok_or_else(|| UnknownFeature(word.to_owned()))
        })
    }
}

impl fmt::Display for Features {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, feature) in self.iter().enumerate() {
            if index > 0 {
                formatter.write_str(",")?;
            }
            formatter.write_str(feature.as_str())?;
        }
        Ok(())
    }
}

/// A name that is not a feature.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a feature; the features are pix_in, pix_out, split, crypto_in, crypto_out")]
pub struct UnknownFeature(pub String);

/// The largest amounts of single operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The largest amount of a charge or a crypto deposit.
    pub charge: Money,
    /// The largest amount of a payout or a crypto withdrawal.
    pub payout: Money,
}

impl Default for Limits {
    fn default() -> Self {
        Self { charge: DEFAULT_LIMIT, payout: DEFAULT_LIMIT }
    }
}

/// A merchant's account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The public identifier.
    pub id: AccountId,
    /// The e-mail in lower case, unique among accounts.
    pub email: String,
    /// The display name.
    pub name: String,
    /// The CPF or CNPJ of the holder. Several accounts can have the same document.
    pub document: Document,
    /// The operator's decision whether the account can write.
    pub status: AccountStatus,
    /// The state of the identity check.
    pub kyc: Kyc,
    /// The enabled features.
    pub features: Features,
    /// The fees per operation.
    pub fees: FeeSchedule,
    /// The largest amounts of single operations.
    pub limits: Limits,
    /// The seconds for which received money stays in `pending`.
    pub release_delay_s: u32,
    /// The spread of crypto rates: the service's margin, in percent. `None` stands for the configured spread.
    pub crypto_spread: Option<Percentage>,
    /// The preferred acquirers for new orders of the account, the first choice first. The other acquirers follow as the
    /// configuration lists them.
    pub acquirers: Vec<AcquirerName>,
    /// The instant of creation.
    pub created_at: Timestamp,
    /// The number of changes. An update requires the version that was read.
    pub version: i64,
}

/// The reason why an account may not perform an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotPermitted {
    /// An operator suspended the account.
    #[error("the account is suspended: it can read but not write")]
    Suspended,
    /// The identity check is pending or was rejected.
    #[error("the account has no approved KYC: an operator of the service approves it")]
    KycNotApproved,
    /// The feature is disabled.
    #[error("the feature `{}` is not enabled for the account: an operator of the service enables it", .0.as_str())]
    FeatureDisabled(Feature),
}

impl Account {
    /// Returns the account with approved KYC. The features of [`Features::APPROVED`] are enabled in addition.
    #[must_use]
    pub fn approve(self) -> Self {
        Self { kyc: Kyc::Approved, features: self.features.union(Features::APPROVED), ..self }
    }

    /// Returns the account with rejected KYC. The features stay enabled, but cannot be used without approved KYC.
    #[must_use]
    pub fn reject(self) -> Self {
        Self { kyc: Kyc::Rejected, ..self }
    }

    /// Checks that the account may use `feature`.
    ///
    /// # Errors
    /// [`NotPermitted`]. Suspension is checked first, then KYC, then the feature.
    pub fn permit(&self, feature: Feature) -> Result<(), NotPermitted> {
        self.permit_write()?;
        if self.kyc != Kyc::Approved {
            return Err(NotPermitted::KycNotApproved);
        }
        if !self.features.contains(feature) {
            return Err(NotPermitted::FeatureDisabled(feature));
        }
        Ok(())
    }

    /// Checks that the account may write.
    ///
    /// # Errors
    /// [`NotPermitted::Suspended`].
    pub const fn permit_write(&self) -> Result<(), NotPermitted> {
        match self.status {
            AccountStatus::Active => Ok(()),
            AccountStatus::Suspended => Err(NotPermitted::Suspended),
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use uuid::Uuid;

    fn account() -> Account {
        Account {
            id: AccountId::new(Uuid::nil()),
            email: "shop@example.com".into(),
            name: "Shop".into(),
            document: Document::parse("12345678909").unwrap(),
            status: AccountStatus::Active,
            kyc: Kyc::Pending,
            features: Features::default(),
            fees: FeeSchedule::default(),
            limits: Limits::default(),
            release_delay_s: 0,
            crypto_spread: None,
            acquirers: Vec::new(),
            created_at: Timestamp::UNIX_EPOCH,
            version: 0,
        }
    }

    #[test]
    fn approval_enables_only_pix_in_and_pix_out() {
        let approved = account().approve();
        assert_eq!(approved.features.to_string(), "pix_in,pix_out");
        assert_eq!(approved.permit(Feature::PixIn), Ok(()));
        assert_eq!(approved.permit(Feature::Split), Err(NotPermitted::FeatureDisabled(Feature::Split)));
    }

    #[test]
    fn rejected_account_uses_no_feature_until_it_is_approved() {
        for rejected in [account().reject(), account().approve().reject()] {
            for feature in Feature::ALL {
                assert_eq!(rejected.permit(feature), Err(NotPermitted::KycNotApproved));
            }
            assert_eq!(rejected.approve(), account().approve());
        }
    }

    #[test]
    fn permit_reports_suspension_then_kyc_then_feature() {
        assert_eq!(account().permit(Feature::PixIn), Err(NotPermitted::KycNotApproved));
        let suspended = Account { status: AccountStatus::Suspended, ..account() };
        assert_eq!(suspended.permit(Feature::PixIn), Err(NotPermitted::Suspended));
    }

    #[test]
    fn formatted_features_are_parsed_back() {
        let all = Feature::ALL.into_iter().fold(Features::default(), Features::with);
        assert_eq!(Features::parse(&all.to_string()), Ok(all));
        assert_eq!(Features::parse("pix_in, nope"), Err(UnknownFeature("nope".into())));
        assert!(!all.without(Feature::Split).contains(Feature::Split));
    }
}
