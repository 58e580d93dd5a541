//! Declares each table with one list of columns. The macro `table!` below generates three items from that list: diesel's `table!`, the row
//! type, and the columns in the table's statements.

use std::borrow::Cow;

use diesel::sql_types::is_nullable::NotNull;
use diesel::sql_types::{BigInt, Binary, Nullable, SqlType, Text};

use super::Value;
use super::spec::{Column, Kind};
use crate::rows::RecordTable;

/// The SQL type of a column, with the Rust type of the column's values.
pub(crate) trait Stored {
    /// The Rust type: borrowed for a write, owned after a read.
    type Value<'a>;
    /// The type of the column.
    const KIND: Kind;
}

impl Stored for Text {
    type Value<'a> = Cow<'a, str>;
    const KIND: Kind = Kind::Text;
}

impl Stored for BigInt {
    type Value<'a> = i64;
    const KIND: Kind = Kind::Int;
}

impl Stored for Binary {
    type Value<'a> = Cow<'a, [u8]>;
    const KIND: Kind = Kind::Bytes;
}

impl<T: Stored + SqlType<IsNull = NotNull>> Stored for Nullable<T> {
    type Value<'a> = Option<T::Value<'a>>;
    const KIND: Kind = T::KIND;
}

/// A row of a table, for writes and reads.
pub(crate) trait Row<'a>: Sized {
    /// The SQL types of the columns.
    type Sql;
    /// The name of the table.
    const TABLE: &'static str;
    /// All columns, in the order of [`Row::values`]: the key, then columns that never change, then columns that change.
    const COLUMNS: &'static [Column];
    /// The columns of the key.
    const KEYS: &'static [&'static str];
    /// The number of columns that never change, including the key.
    const FIXED: usize;
    /// The columns in the condition of an update: the key and `version`. So an update changes a row only if its version is the one that was
    /// read.
    const READ: &'static [Column];

    /// Returns the statements of the table.
    fn statements() -> &'static RecordTable;

    /// Returns the key as text, for log lines.
    fn name(&self) -> String;

    /// Returns the values, in the order of [`Row::COLUMNS`].
    fn values(self) -> Vec<Value<'a>>;
}

/// Returns the columns of a table with the alias `alias`, for the list of a `SELECT`.
pub(crate) fn names<R: Row<'static>>(alias: &str) -> String {
    R::COLUMNS.iter().map(|(name, _)| format!("{alias}.{name}")).collect::<Vec<_>>().join(", ")
}

/// Returns a column's name without the prefix `r#`, with which Rust accepts a keyword such as `type` as a name.
pub(crate) const fn bare(name: &'static str) -> &'static str {
    match name.as_bytes() {
        [b'r', b'#', ..] => name.split_at(2).1,
        _ => name,
    }
}

/// Declares a table and its row type. The columns stand in groups, in this order: `key`, `fixed` (columns that never change), `changing`.
macro_rules! table {
    (
        $(#[$meta:meta])*
        $row:ident of $table:ident
        key { $($key:ident: $key_type:ident $(<$key_inner:ident>)?),+ $(,)? }
        fixed { $($fixed:ident: $fixed_type:ident $(<$fixed_inner:ident>)?),* $(,)? }
        $(changing { $($changing:ident: $changing_type:ident $(<$changing_inner:ident>)?),* $(,)? })?
    ) => {
        diesel::table! {
            $table ($($key),+) {
                $($key -> $key_type $(<$key_inner>)?,)+
                $($fixed -> $fixed_type $(<$fixed_inner>)?,)*
                $($($changing -> $changing_type $(<$changing_inner>)?,)*)?
            }
        }
        $crate::sql::table::table! { @row
            $(#[$meta])* $row of $table
            [$(($key, diesel::sql_types::$key_type $(<diesel::sql_types::$key_inner>)?))+]
            [$(($fixed, diesel::sql_types::$fixed_type $(<diesel::sql_types::$fixed_inner>)?))*]
            [$($(($changing, diesel::sql_types::$changing_type $(<diesel::sql_types::$changing_inner>)?))*)?]
        }
    };
    (@row
        $(#[$meta:meta])* $row:ident of $table:ident
        [$(($key:ident, $key_type:ty))+] [$(($fixed:ident, $fixed_type:ty))*] [$(($changing:ident, $changing_type:ty))*]
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, diesel::Queryable)]
        pub(crate) struct $row<'a> {
            $(pub(crate) $key: $crate::sql::table::table!(@value 'a $key_type),)+
            $(pub(crate) $fixed: $crate::sql::table::table!(@value 'a $fixed_type),)*
            $(pub(crate) $changing: $crate::sql::table::table!(@value 'a $changing_type),)*
        }

        impl<'a> $crate::sql::table::Row<'a> for $row<'a> {
            type Sql = ($($key_type,)+ $($fixed_type,)* $($changing_type,)*);
            const TABLE: &'static str = stringify!($table);
            const COLUMNS: &'static [$crate::sql::spec::Column] = &[
                $($crate::sql::table::table!(@column $key $key_type),)+
                $($crate::sql::table::table!(@column $fixed $fixed_type),)*
                $($crate::sql::table::table!(@column $changing $changing_type),)*
            ];
            const KEYS: &'static [&'static str] = &[$($crate::sql::table::bare(stringify!($key))),+];
            const FIXED: usize = Self::KEYS.len() + <[&str]>::len(&[$(stringify!($fixed)),*]);
            const READ: &'static [$crate::sql::spec::Column] = &[
                $($crate::sql::table::table!(@column $key $key_type),)+
                ("version", $crate::sql::spec::Kind::Int),
            ];

            fn statements() -> &'static $crate::rows::RecordTable {
                static STATEMENTS: $crate::rows::RecordTable = $crate::rows::RecordTable::of::<$row<'static>>();
                &STATEMENTS
            }

            fn name(&self) -> String {
                [$(self.$key.to_string()),+].join("/")
            }

            fn values(self) -> Vec<$crate::sql::Value<'a>> {
                vec![$(self.$key.into(),)+ $(self.$fixed.into(),)* $(self.$changing.into(),)*]
            }
        }

        $crate::sql::loaded! { <$row<'static> as $crate::sql::table::Row<'static>>::Sql => $row<'static> }
    };
    (@value $life:lifetime $type:ty) => { <$type as $crate::sql::table::Stored>::Value<$life> };
    (@column $name:ident $type:ty) => {
        ($crate::sql::table::bare(stringify!($name)), <$type as $crate::sql::table::Stored>::KIND)
    };
}
pub(crate) use table;
