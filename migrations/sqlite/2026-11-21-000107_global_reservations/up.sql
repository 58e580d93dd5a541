-- Values that are unique everywhere, and look-ups without an account: keyed by the value itself.
CREATE TABLE global_reservations (
    space TEXT NOT NULL,
    value TEXT NOT NULL,
    account_id TEXT NOT NULL,
    owner TEXT NOT NULL,
    PRIMARY KEY (space, value)
) STRICT, WITHOUT ROWID;
