-- The ledger, version 4: what was added to version 3.

-- Handles of payments that a browser makes, by digest: open until redeemed, once, or over. One is open for a payment.
CREATE TABLE handle (
    digest    TEXT    PRIMARY KEY CHECK (length(digest) = 64 AND digest NOT GLOB '*[^0-9a-f]*'),
    payment   TEXT    NOT NULL REFERENCES payment (id),
    state     TEXT    NOT NULL CHECK (state IN ('open', 'redeemed', 'over')),
    -- The payment document without the signature.
    blank     TEXT    NOT NULL CHECK (json_valid(blank) AND octet_length(blank) <= 131072),
    created_s INTEGER NOT NULL CHECK (created_s >= 0),
    expires_s INTEGER NOT NULL CHECK (created_s < expires_s),
    ended_s   INTEGER CHECK ((ended_s IS NULL) = (state = 'open')),
    CHECK (state <> 'redeemed' OR ended_s < expires_s)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX handle_open ON handle (payment) WHERE state = 'open';
CREATE INDEX handle_due ON handle (expires_s) WHERE state = 'open';

CREATE TRIGGER handle_begins BEFORE INSERT ON handle
WHEN NEW.state <> 'open'
     OR NOT EXISTS (SELECT 1 FROM payment WHERE id = NEW.payment AND state IN ('held', 'exposed')
                    AND method = 'GET' AND body IS NULL)
BEGIN SELECT RAISE(ABORT, 'a handle begins open, for a page that is not paid for'); END;
CREATE TRIGGER handle_stays BEFORE DELETE ON handle
BEGIN SELECT RAISE(ABORT, 'a handle is never deleted'); END;
CREATE TRIGGER handle_story BEFORE UPDATE ON handle
WHEN OLD.state <> 'open' OR NEW.digest IS NOT OLD.digest OR NEW.payment IS NOT OLD.payment
     OR NEW.blank IS NOT OLD.blank OR NEW.created_s IS NOT OLD.created_s OR NEW.expires_s IS NOT OLD.expires_s
BEGIN SELECT RAISE(ABORT, 'a handle ends once and keeps its story'); END;
CREATE TRIGGER handle_redeemed BEFORE UPDATE ON handle
WHEN NEW.state = 'redeemed'
     AND NOT EXISTS (SELECT 1 FROM payment WHERE id = NEW.payment AND state = 'exposed')
BEGIN SELECT RAISE(ABORT, 'a handle is redeemed for money that is counted as spent'); END;

-- Money that is set aside is given to nobody while its handle is open, and comes back only when that is over.
CREATE TRIGGER payment_held_ends BEFORE UPDATE ON payment
WHEN OLD.state = 'held' AND NEW.state = 'voided'
     AND EXISTS (SELECT 1 FROM handle WHERE payment = OLD.id AND state = 'open')
BEGIN SELECT RAISE(ABORT, 'money is set aside as long as its handle is open'); END;

-- How the log is vouched for: which restart of the books this is, which key signs checkpoints, and where the last one is.
CREATE TABLE audit (
    id             INTEGER PRIMARY KEY CHECK (id = 1),
    epoch          INTEGER NOT NULL CHECK (epoch >= 1),
    key            TEXT    CHECK (length(key) = 66 AND key NOT GLOB '*[^0-9a-f]*'),
    checkpoint_seq INTEGER NOT NULL CHECK (checkpoint_seq >= 0),
    checkpoint_s   INTEGER NOT NULL CHECK (checkpoint_s >= 0)
) STRICT;
INSERT INTO audit (id, epoch, checkpoint_seq, checkpoint_s) VALUES (1, 1, 0, 0);

CREATE TRIGGER audit_stays BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'the log stays vouched for'); END;
CREATE TRIGGER audit_story BEFORE UPDATE ON audit
WHEN NEW.id IS NOT OLD.id OR NEW.epoch < OLD.epoch OR NEW.checkpoint_seq < OLD.checkpoint_seq
     OR (OLD.key IS NOT NULL AND NEW.key IS NOT OLD.key)
BEGIN SELECT RAISE(ABORT, 'the log stays vouched for'); END;
