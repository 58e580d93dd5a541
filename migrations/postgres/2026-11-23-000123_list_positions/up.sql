-- Each row is the position up to which a list of an acquirer was read or compared.
CREATE TABLE list_positions (
    acquirer TEXT COLLATE "C" NOT NULL,
    list TEXT COLLATE "C" NOT NULL CHECK (list IN ('infractions', 'received', 'sent', 'returns', 'crypto_deposits', 'crypto_withdrawals')),
    seen_until BIGINT NOT NULL,
    version BIGINT NOT NULL CHECK (version >= 1),
    PRIMARY KEY (acquirer, list)
) WITH (fillfactor = 50);
