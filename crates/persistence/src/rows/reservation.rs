//! Rows of reservations: values that are unique within an account, or globally.

use cais_ports::{Reservation, ReservationKey};

use crate::sql::Value;
use crate::sql::spec::{Column, Kind, Spec};

diesel::table! {
    account_reservations (account_id, space, value) {
        account_id -> Text,
        space -> Text,
        value -> Text,
        owner -> Text,
    }
}

diesel::table! {
    global_reservations (space, value) {
        space -> Text,
        value -> Text,
        account_id -> Text,
        owner -> Text,
    }
}

const WITHIN_ACCOUNT: &[Column] = &[("account_id", Kind::Text), ("space", Kind::Text), ("value", Kind::Text)];
const EVERYWHERE: &[Column] = &[("space", Kind::Text), ("value", Kind::Text)];

/// Inserts values reserved within an account.
pub(crate) static RESERVE_WITHIN: Spec = Spec::insert_unless_there(
    "account_reservations",
    &[("account_id", Kind::Text), ("space", Kind::Text), ("value", Kind::Text), ("owner", Kind::Text)],
);

/// Inserts values reserved globally.
pub(crate) static RESERVE_EVERYWHERE: Spec = Spec::insert_unless_there(
    "global_reservations",
    &[("space", Kind::Text), ("value", Kind::Text), ("account_id", Kind::Text), ("owner", Kind::Text)],
);

/// Deletes values that are freed within an account.
pub(crate) static FREE_WITHIN: Spec = Spec::delete("account_reservations", WITHIN_ACCOUNT);

/// Deletes values that are freed globally.
pub(crate) static FREE_EVERYWHERE: Spec = Spec::delete("global_reservations", EVERYWHERE);

/// Returns the values of a reservation.
pub(crate) fn reserved(reservation: &Reservation) -> Vec<Value<'_>> {
    let mut row = freed(&reservation.key);
    if reservation.key.within().is_none() {
        row.push(reservation.account.into());
    }
    row.push(reservation.owner.as_str().into());
    row
}

/// Returns the key of a freed value.
pub(crate) fn freed(key: &ReservationKey) -> Vec<Value<'_>> {
    let mut row = Vec::new();
    row.extend(key.within().map(Value::from));
    row.extend([key.space().into(), key.value().into()]);
    row
}
