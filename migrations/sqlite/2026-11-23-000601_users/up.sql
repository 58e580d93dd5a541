-- Each row is a person who logs in to the dashboard: the holder of an account, or an operator without an account.
-- The password is a slow hash. The secret of the authenticator is encrypted; without a last step it is not in use yet.
CREATE TABLE users (
    id TEXT PRIMARY KEY NOT NULL,
    email TEXT NOT NULL,
    account_id TEXT,
    created_at INTEGER NOT NULL,
    password_hash TEXT,
    totp_secret BLOB,
    totp_last_step INTEGER,
    recovery_hashes BLOB NOT NULL CHECK (length(recovery_hashes) % 32 = 0),
    invitation_hash BLOB CHECK (length(invitation_hash) = 32),
    invitation_until INTEGER,
    version INTEGER NOT NULL CHECK (version >= 1),
    CHECK (totp_last_step IS NULL OR totp_secret IS NOT NULL),
    CHECK ((invitation_hash IS NULL) = (invitation_until IS NULL))
) STRICT;

-- A login names the e-mail.
CREATE INDEX users_of_email ON users (email);
