-- Each row reserves a value that is unique within an account, for the record `owner`.
CREATE TABLE account_reservations (
    account_id TEXT NOT NULL,
    space TEXT NOT NULL,
    value TEXT NOT NULL,
    owner TEXT NOT NULL,
    PRIMARY KEY (account_id, space, value)
) STRICT, WITHOUT ROWID;
