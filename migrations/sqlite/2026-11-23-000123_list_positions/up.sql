-- Each row is the position up to which a list of an acquirer was read or compared.
CREATE TABLE list_positions (
    acquirer TEXT NOT NULL,
    list TEXT NOT NULL CHECK (list IN ('infractions', 'received', 'sent', 'returns', 'crypto_deposits', 'crypto_withdrawals')),
    seen_until INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    PRIMARY KEY (acquirer, list)
) STRICT;
