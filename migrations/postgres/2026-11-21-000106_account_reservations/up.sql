-- Values that are unique within an account.
CREATE TABLE account_reservations (
    account_id TEXT COLLATE "C" NOT NULL,
    space TEXT COLLATE "C" NOT NULL,
    value TEXT COLLATE "C" NOT NULL,
    owner TEXT NOT NULL,
    PRIMARY KEY (account_id, space, value)
);
