//! The tables of the store in memory: one for each type in the list `cais_ports::records`.

use std::collections::BTreeMap;

use cais_ports::{AnyRecord, RecordKey, Write};

macro_rules! tables {
    ($(
        $(#[$doc:meta])*
        $plural:ident: $name:ident($type:ty) |$one:ident| { key $key:tt account $account:tt changes { $($changes:tt)* } }
    )+) => {
        /// The records of each type by their keys. Exception: the endpoints are in the snapshot.
        #[derive(Debug, Default)]
        pub(super) struct Tables {
            $(pub(super) $plural: BTreeMap<RecordKey, $type>,)+
        }

        impl Tables {
            /// Returns the record with this key.
            pub(super) fn find(&self, key: &RecordKey) -> Option<AnyRecord> {
                match key {
                    $(RecordKey::$name { .. } => self.$plural.get(key).cloned().map(AnyRecord::from),)+
                }
            }

            /// Stores a judged record.
            pub(super) fn write(&mut self, write: Write) {
                let (key, version) = (write.key(), write.version());
                let (Write::Insert(record) | Write::Update(record)) = write;
                if matches!(record, AnyRecord::Endpoint(_)) {
                    return;
                }
                match record {
                    $(AnyRecord::$name(one) => {
                        let stored = self.$plural.remove(&key);
                        self.$plural.insert(key, tables!(@after stored, *one, version, $($changes)*));
                    })+
                }
            }
        }
    };
    // As in a database, an update writes only the fields that change.
    (@after $stored:ident, $one:expr, $number:ident, $version:ident, $($changing:ident),+) => {{
        let one = $one;
        let mut after = $stored.unwrap_or_else(|| one.clone());
        $(after.$changing = one.$changing;)+
        after.$version = $number;
        after
    }};
    (@after $stored:ident, $one:expr, $number:ident,) => { $stored.unwrap_or($one) };
}
cais_ports::records!(tables);
