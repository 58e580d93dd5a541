//! Values that bodies share: amounts, instants, closed lists of words, and pages of lists.

use std::borrow::Cow;
use std::fmt::{self, Display};

use cais_domain::money::Money;
use cais_strict_json::{Node, Problem};
use jiff::Timestamp;
use jiff::tz::Offset;
use serde::{Serialize, Serializer};
use serde_json::{Number, Value};
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Schema, SchemaType, Type};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{PartialSchema, ToSchema};

use crate::rules;

/// The initial capacity of a body, in bytes. For nearly all resources one allocation suffices.
const USUAL_BYTES: usize = 768;

/// Returns `body` as JSON, its fields in the order of the struct.
#[must_use]
pub fn to_json(body: &impl Serialize) -> Vec<u8> {
    let mut out = Vec::with_capacity(USUAL_BYTES);
    // Writing to memory cannot fail, and every body has only values that JSON can express.
    serde_json::to_writer(&mut out, body).unwrap_or_default();
    out
}

/// An amount in BRL: a JSON number with two decimals, written from the integer of centavos.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Amount(pub Money);

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // A `Number` keeps its text, so both decimals are written.
        let number: Number = self.0.to_string().parse().map_err(serde::ser::Error::custom)?;
        number.serialize(serializer)
    }
}

impl PartialSchema for Amount {
    fn schema() -> RefOr<Schema> {
        // A `Number` keeps its text, so that the example has both decimals.
        let example = "10.50".parse::<Number>().ok().map(Value::Number);
        ObjectBuilder::new().schema_type(Type::Number).examples(example).build().into()
    }
}

impl ToSchema for Amount {}

/// An amount of a request: BRL, at most two decimals, at least `LEAST` centavos.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AmountFrom<const LEAST: i64>(pub Money);

/// An amount of at least R$ 0.01.
pub type AnyAmount = AmountFrom<1>;

impl<const LEAST: i64> AmountFrom<LEAST> {
    const LEAST: Money = Money::from_centavos(LEAST);

    /// Reads an amount.
    ///
    /// # Errors
    /// The value is not a number, has more than two decimals, or is too large or too small.
    pub fn read(node: &Node<'_>) -> Result<Self, Problem> {
        rules::money(node, Self::LEAST).map(Self)
    }
}

impl<const LEAST: i64> PartialSchema for AmountFrom<LEAST> {
    fn schema() -> RefOr<Schema> {
        let least = Self::LEAST.to_string().parse().ok().map(utoipa::Number::Float);
        ObjectBuilder::new().schema_type(Type::Number).minimum(least).build().into()
    }
}

impl<const LEAST: i64> ToSchema for AmountFrom<LEAST> {}

/// An instant, written as RFC 3339 in UTC and cut to milliseconds. Example: `2026-01-02T03:04:05.678Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instant(pub Timestamp);

impl Display for Instant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = Offset::UTC.to_datetime(self.0);
        let (year, month, day) = (at.year(), at.month(), at.day());
        let (hour, minute, second, millisecond) = (at.hour(), at.minute(), at.second(), at.millisecond());
        write!(formatter, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millisecond:03}Z")
    }
}

impl Serialize for Instant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A page of a list: its rows, and the cursor of the next page.
#[derive(Serialize)]
pub struct Page<T> {
    data: Vec<T>,
    has_more: bool,
    next_starting_after: Option<String>,
}

impl<T> Page<T> {
    /// Returns a page. The next page begins after `next_starting_after`; without that value this page is the last.
    #[must_use]
    pub fn new(data: Vec<T>, next_starting_after: Option<impl Display>) -> Self {
        let next_starting_after = next_starting_after.map(|id| id.to_string());
        Self { data, has_more: next_starting_after.is_some(), next_starting_after }
    }
}

/// Returns a page of rows that are already rendered as JSON.
#[must_use]
pub fn page_of_json(rows: &[Vec<u8>], next_starting_after: Option<impl Display>) -> Vec<u8> {
    const BEFORE_ROWS: usize = "{\"data\":[".len();
    let envelope = to_json(&Page::<()>::new(Vec::new(), next_starting_after));
    let (before, after) = envelope.split_at(BEFORE_ROWS.min(envelope.len()));
    [before, &rows.join(&b','), after].concat()
}

impl<T: ToSchema> PartialSchema for Page<T> {
    fn schema() -> RefOr<Schema> {
        let rows = ArrayBuilder::new().items(Ref::from_schema_name(T::name())).description(Some("The rows."));
        let has_more = ObjectBuilder::new().schema_type(Type::Boolean).description(Some("True if further rows exist."));
        let next = ObjectBuilder::new()
            .schema_type(SchemaType::from_iter([Type::String, Type::Null]))
            .description(Some("The `starting_after` of the next page; null on the last page."));
        ObjectBuilder::new()
            .description(Some("A page of a list, newest first unless the request names another order."))
            .property("data", rows)
            .property("has_more", has_more)
            .property("next_starting_after", next)
            .required("data")
            .required("has_more")
            .required("next_starting_after")
            .build()
            .into()
    }
}

impl<T: ToSchema> ToSchema for Page<T> {
    fn name() -> Cow<'static, str> {
        format!("{}Page", T::name()).into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((T::name().into(), T::schema()));
        T::schemas(schemas);
    }
}

/// Declares the type `$name` and its schema `$shown` (default: `$name`): a string that is one of `$words`.
macro_rules! closed_list {
    ($(#[doc = $doc:literal])+ $name:ident $words:expr) => {
        crate::resources::values::closed_list! { $(#[doc = $doc])+ $name as $name $words }
    };
    ($(#[doc = $doc:literal])+ $name:ident as $shown:ident $words:expr) => {
        $(#[doc = $doc])+
        pub struct $name;

        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                utoipa::openapi::schema::ObjectBuilder::new()
                    .schema_type(utoipa::openapi::schema::Type::String)
                    .enum_values(Some($words))
                    .description(Some(concat!($($doc),+).trim()))
                    .build()
                    .into()
            }
        }

        impl utoipa::ToSchema for $name {
            fn name() -> std::borrow::Cow<'static, str> {
                stringify!($shown).into()
            }
        }
    };
}

pub(crate) use closed_list;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_cut_to_milliseconds() {
        let at = "2026-01-02T03:04:05.678999Z".parse().unwrap_or(Timestamp::MIN);
        assert_eq!(Instant(at).to_string(), "2026-01-02T03:04:05.678Z");
    }

    #[test]
    fn amounts_keep_both_decimals_at_any_size() {
        for (centavos, expected) in
            [(0, "0.00"), (-5, "-0.05"), (1_050, "10.50"), (99_999_999_999_999, "999999999999.99")]
        {
            assert_eq!(to_json(&Amount(Money::from_centavos(centavos))), expected.as_bytes());
        }
    }
}
