-- Each row is a merchant account: its identity, permissions, limits and fees.
CREATE TABLE accounts (
    id TEXT COLLATE "C" PRIMARY KEY,
    email TEXT COLLATE "C" NOT NULL,
    name TEXT NOT NULL,
    document TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'suspended')),
    kyc TEXT NOT NULL CHECK (kyc IN ('pending', 'approved', 'rejected')),
    features TEXT NOT NULL,
    charge_limit BIGINT NOT NULL CHECK (charge_limit >= 0),
    payout_limit BIGINT NOT NULL CHECK (payout_limit >= 0),
    release_delay_s BIGINT NOT NULL CHECK (release_delay_s >= 0),
    -- A percentage; NULL stands for the spread of the configuration.
    crypto_spread TEXT,
    -- The acquirers that new orders use first, separated by commas.
    acquirers TEXT NOT NULL DEFAULT '',
    pix_in_fixed BIGINT NOT NULL CHECK (pix_in_fixed >= 0),
    pix_in_percentage TEXT NOT NULL,
    pix_in_min BIGINT CHECK (pix_in_min >= 0),
    pix_in_max BIGINT CHECK (pix_in_max >= 0),
    pix_out_fixed BIGINT NOT NULL CHECK (pix_out_fixed >= 0),
    pix_out_percentage TEXT NOT NULL,
    pix_out_min BIGINT CHECK (pix_out_min >= 0),
    pix_out_max BIGINT CHECK (pix_out_max >= 0),
    crypto_in_fixed BIGINT NOT NULL CHECK (crypto_in_fixed >= 0),
    crypto_in_percentage TEXT NOT NULL,
    crypto_in_min BIGINT CHECK (crypto_in_min >= 0),
    crypto_in_max BIGINT CHECK (crypto_in_max >= 0),
    crypto_out_fixed BIGINT NOT NULL CHECK (crypto_out_fixed >= 0),
    crypto_out_percentage TEXT NOT NULL,
    crypto_out_min BIGINT CHECK (crypto_out_min >= 0),
    crypto_out_max BIGINT CHECK (crypto_out_max >= 0),
    created_at BIGINT NOT NULL,
    version BIGINT NOT NULL CHECK (version >= 1)
);

-- Finds an account by its e-mail address. A row in `global_reservations` keeps the address unique.
CREATE INDEX accounts_by_email ON accounts (email);

-- Finds the accounts whose KYC waits for an operator.
CREATE INDEX accounts_in_review ON accounts (id) WHERE kyc = 'pending';
