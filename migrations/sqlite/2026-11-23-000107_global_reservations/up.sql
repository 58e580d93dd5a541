-- Each row reserves a value that is unique across all accounts, for the record `owner`.
-- The primary key is the value itself, so that a record can be found without its account.
CREATE TABLE global_reservations (
    space TEXT NOT NULL,
    value TEXT NOT NULL,
    account_id TEXT NOT NULL,
    owner TEXT NOT NULL,
    PRIMARY KEY (space, value)
) STRICT, WITHOUT ROWID;
