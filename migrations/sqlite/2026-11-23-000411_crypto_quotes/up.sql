-- Prices of crypto operations, with the inputs of each rate. Amounts of coins and rates are decimal texts.
CREATE TABLE crypto_quotes (
    account_id TEXT NOT NULL,
    id TEXT NOT NULL,
    side TEXT NOT NULL CHECK (side IN ('deposit', 'withdrawal')),
    currency TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount > 0),
    rate TEXT NOT NULL,
    coins TEXT NOT NULL,
    fee_rule TEXT NOT NULL,
    usdt_per_coin TEXT NOT NULL,
    coin_priced_at INTEGER NOT NULL,
    brl_per_usd TEXT NOT NULL,
    usd_priced_at INTEGER NOT NULL,
    spread TEXT NOT NULL,
    used_by TEXT,
    expires_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    PRIMARY KEY (account_id, id)
) STRICT;

-- The newest rate of a currency, over all accounts. The next rate is compared with it.
CREATE INDEX crypto_quotes_of_currency ON crypto_quotes (currency, id);

-- Unused quotes by their end, for housekeeping.
CREATE INDEX crypto_quotes_unused ON crypto_quotes (expires_at) WHERE used_by IS NULL;
