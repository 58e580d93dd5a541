//! Rows of unique values: within an account, or everywhere.

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

/// Values taken within an account.
pub(crate) static TAKE_WITHIN: Spec = Spec::insert_unless_there(
    "account_reservations",
    &[("account_id", Kind::Text), ("space", Kind::Text), ("value", Kind::Text), ("owner", Kind::Text)],
);

/// Values taken everywhere.
pub(crate) static TAKE_EVERYWHERE: Spec = Spec::insert_unless_there(
    "global_reservations",
    &[("space", Kind::Text), ("value", Kind::Text), ("account_id", Kind::Text), ("owner", Kind::Text)],
);

/// Values given back within an account.
pub(crate) static GIVE_WITHIN: Spec = Spec::delete("account_reservations", WITHIN_ACCOUNT);

/// Values given back everywhere.
pub(crate) static GIVE_EVERYWHERE: Spec = Spec::delete("global_reservations", EVERYWHERE);

/// The row of a value that is taken.
pub(crate) fn taken(reservation: &Reservation) -> Vec<Value<'_>> {
    let mut row = given(&reservation.key);
    if reservation.key.within().is_none() {
        row.push(reservation.account.into());
    }
    row.push(reservation.owner.as_str().into());
    row
}

/// The row of a value that is given back.
pub(crate) fn given(key: &ReservationKey) -> Vec<Value<'_>> {
    let mut row = Vec::new();
    row.extend(key.within().map(Value::from));
    row.extend([key.space().into(), key.value().into()]);
    row
}
