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

-- What a chain showed of a payment, at a block that is final; once, and for good.
CREATE TABLE proof (
    payment   TEXT    PRIMARY KEY REFERENCES payment (id),
    verdict   TEXT    NOT NULL CHECK (verdict IN ('paid', 'unused', 'cancelled')),
    block     INTEGER NOT NULL CHECK (block >= 0),
    hash      TEXT    NOT NULL CHECK (length(hash) = 66 AND hash GLOB '0x*'),
    block_s   INTEGER NOT NULL CHECK (block_s >= 0),
    tx        TEXT    CHECK (length(tx) = 66 AND tx GLOB '0x*') CHECK ((tx IS NULL) = (verdict = 'unused')),
    witnesses INTEGER NOT NULL CHECK (witnesses >= 1),
    -- 1: the row was settled by then on the seller's word, which the chain denies.
    denies    INTEGER NOT NULL CHECK (denies IN (0, 1)) CHECK (denies = 0 OR verdict <> 'paid'),
    proved_s  INTEGER NOT NULL CHECK (proved_s >= 0)
) STRICT, WITHOUT ROWID;
CREATE INDEX proof_denies ON proof (proved_s) WHERE denies = 1;

CREATE TRIGGER proof_begins BEFORE INSERT ON proof
WHEN NOT EXISTS (SELECT 1 FROM payment WHERE id = NEW.payment
                 AND (state = 'settled' OR (state IN ('exposed', 'presumed_spent') AND NEW.denies = 0)))
     OR (NEW.verdict = 'unused' AND EXISTS (SELECT 1 FROM payment WHERE id = NEW.payment AND NEW.block_s < valid_before))
BEGIN SELECT RAISE(ABORT, 'a chain proves nothing of this payment'); END;
CREATE TRIGGER proof_stays BEFORE DELETE ON proof
BEGIN SELECT RAISE(ABORT, 'a proof is never deleted'); END;
CREATE TRIGGER proof_story BEFORE UPDATE ON proof
BEGIN SELECT RAISE(ABORT, 'a proof is never changed'); END;
CREATE TRIGGER payment_lapses BEFORE UPDATE ON payment
WHEN NEW.state = 'lapsed' AND OLD.state <> 'lapsed'
     AND NOT EXISTS (SELECT 1 FROM proof WHERE payment = NEW.id AND verdict <> 'paid')
BEGIN SELECT RAISE(ABORT, 'only a proof lets a payment lapse'); END;

-- What was counted as spent and is proved not to have moved: under every key the sum so far, in order of the time that it
-- was counted at, so that a window leaves out exactly what it counted.
CREATE TABLE returned (
    key     TEXT    NOT NULL REFERENCES tally (key),
    at_s    INTEGER NOT NULL,
    payment TEXT    NOT NULL REFERENCES payment (id),
    total   TEXT    NOT NULL CHECK (length(total) = 39 AND total NOT GLOB '*[^0-9]*'),
    count   INTEGER NOT NULL CHECK (count >= 1),
    PRIMARY KEY (key, at_s, payment)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX returned_once ON returned (payment, key);

CREATE TRIGGER returned_begins BEFORE INSERT ON returned
WHEN NOT EXISTS (SELECT 1 FROM spent WHERE payment = NEW.payment AND key = NEW.key AND at_s = NEW.at_s)
     OR NOT EXISTS (SELECT 1 FROM payment WHERE id = NEW.payment AND state = 'lapsed')
BEGIN SELECT RAISE(ABORT, 'only what was spent and lapsed is returned'); END;
CREATE TRIGGER returned_stays BEFORE DELETE ON returned
BEGIN SELECT RAISE(ABORT, 'what was returned stays returned'); END;
CREATE TRIGGER returned_grows BEFORE UPDATE ON returned
WHEN NEW.key IS NOT OLD.key OR NEW.at_s IS NOT OLD.at_s OR NEW.payment IS NOT OLD.payment OR NEW.total < OLD.total
     OR NEW.count < OLD.count
BEGIN SELECT RAISE(ABORT, 'what was returned stays returned'); END;

-- What is still to be proved, and from which second of the chain's own time on it is worth asking. A list of work: nothing
-- in it is believed.
CREATE TABLE unproved (
    payment TEXT    PRIMARY KEY REFERENCES payment (id),
    chain   TEXT    NOT NULL,
    from_s  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX unproved_due ON unproved (chain, from_s);
