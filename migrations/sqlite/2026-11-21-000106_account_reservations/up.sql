-- Values that are unique within an account.
CREATE TABLE account_reservations (
    account_id TEXT NOT NULL,
    space TEXT NOT NULL,
    value TEXT NOT NULL,
    owner TEXT NOT NULL,
    PRIMARY KEY (account_id, space, value)
) STRICT, WITHOUT ROWID;
