-- Values that are unique everywhere, and look-ups without an account: keyed by the value itself.
CREATE TABLE global_reservations (
    space TEXT COLLATE "C" NOT NULL,
    value TEXT COLLATE "C" NOT NULL,
    account_id TEXT COLLATE "C" NOT NULL,
    owner TEXT NOT NULL,
    PRIMARY KEY (space, value)
);
