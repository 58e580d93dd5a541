-- Each row reserves a value that is unique within an account, for the record `owner`.
CREATE TABLE account_reservations (
    account_id TEXT COLLATE "C" NOT NULL,
    space TEXT COLLATE "C" NOT NULL,
    value TEXT COLLATE "C" NOT NULL,
    owner TEXT NOT NULL,
    PRIMARY KEY (account_id, space, value)
);
