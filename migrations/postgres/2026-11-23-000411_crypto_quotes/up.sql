-- Prices of crypto operations, with the inputs of each rate. Amounts of coins and rates are decimal texts.
CREATE TABLE crypto_quotes (
    account_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    side TEXT NOT NULL CHECK (side IN ('deposit', 'withdrawal')),
    currency TEXT NOT NULL,
    amount BIGINT NOT NULL CHECK (amount > 0),
    rate TEXT NOT NULL,
    coins TEXT NOT NULL,
    fee_rule TEXT NOT NULL,
    usdt_per_coin TEXT NOT NULL,
    coin_priced_at BIGINT NOT NULL,
    brl_per_usd TEXT NOT NULL,
    usd_priced_at BIGINT NOT NULL,
    spread TEXT NOT NULL,
    used_by TEXT,
    expires_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    version BIGINT NOT NULL CHECK (version >= 1),
    PRIMARY KEY (account_id, id)
);

-- The newest rate of a currency, over all accounts. The next rate is compared with it.
CREATE INDEX crypto_quotes_of_currency ON crypto_quotes (currency, id);

-- Unused quotes by their end, for housekeeping.
CREATE INDEX crypto_quotes_unused ON crypto_quotes (expires_at) WHERE used_by IS NULL;
