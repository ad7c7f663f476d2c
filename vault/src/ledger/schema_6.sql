-- The ledger, version 6: what was added to version 5.

-- What was spent is kept in one tree, by key and time, instead of three: a payment is spent once because it ends once, and
-- the sums are checked against the rows.
DROP TRIGGER returned_begins;
CREATE TABLE spent_by_time (
    key     TEXT    NOT NULL REFERENCES tally (key),
    seq     INTEGER NOT NULL CHECK (seq >= 1),
    at_s    INTEGER NOT NULL CHECK (at_s >= 0),
    payment TEXT    NOT NULL REFERENCES payment (id),
    total   TEXT    NOT NULL CHECK (length(total) = 39 AND total NOT GLOB '*[^0-9]*'),
    PRIMARY KEY (key, at_s, seq)
) STRICT, WITHOUT ROWID;
INSERT INTO spent_by_time SELECT key, seq, at_s, payment, total FROM spent ORDER BY key, at_s, seq;
DROP TABLE spent;
ALTER TABLE spent_by_time RENAME TO spent;

CREATE TRIGGER spent_stays BEFORE DELETE ON spent
BEGIN SELECT RAISE(ABORT, 'what was spent is never deleted'); END;
CREATE TRIGGER spent_story BEFORE UPDATE ON spent
BEGIN SELECT RAISE(ABORT, 'what was spent is never rewritten'); END;
CREATE TRIGGER spent_order BEFORE INSERT ON spent
WHEN NOT EXISTS
         (SELECT 1 FROM (SELECT seq, at_s, total FROM spent WHERE key = NEW.key ORDER BY at_s DESC, seq DESC LIMIT 1)
          WHERE NEW.seq = seq + 1 AND at_s <= NEW.at_s AND total <= NEW.total)
     AND NOT (NEW.seq = 1 AND NOT EXISTS (SELECT 1 FROM spent WHERE key = NEW.key))
BEGIN SELECT RAISE(ABORT, 'spending is written down in order'); END;

CREATE TRIGGER returned_begins BEFORE INSERT ON returned
WHEN NOT EXISTS (SELECT 1 FROM spent WHERE key = NEW.key AND at_s = NEW.at_s AND payment = NEW.payment)
     OR NOT EXISTS (SELECT 1 FROM payment WHERE id = NEW.payment AND state = 'lapsed')
BEGIN SELECT RAISE(ABORT, 'only what was spent and lapsed is returned'); END;

-- The account that pays, handed on: each row is one change of it, with the key that signs checkpoints from then on.
CREATE TABLE rotation (
    seq          INTEGER PRIMARY KEY,
    from_account TEXT    NOT NULL CHECK (length(from_account) = 42),
    to_account   TEXT    NOT NULL UNIQUE CHECK (length(to_account) = 42 AND to_account <> from_account),
    audit_key    TEXT    NOT NULL CHECK (length(audit_key) = 66 AND audit_key NOT GLOB '*[^0-9a-f]*'),
    at_s         INTEGER NOT NULL CHECK (at_s >= 0)
) STRICT;

CREATE TRIGGER rotation_begins BEFORE INSERT ON rotation
WHEN NEW.from_account IS NOT (SELECT key_address FROM meta)
     OR EXISTS (SELECT 1 FROM payment WHERE state IN ('held', 'exposed'))
BEGIN SELECT RAISE(ABORT, 'the account that pays is handed on while nothing is open'); END;
CREATE TRIGGER rotation_stays BEFORE DELETE ON rotation
BEGIN SELECT RAISE(ABORT, 'a change of the account is never deleted'); END;
CREATE TRIGGER rotation_story BEFORE UPDATE ON rotation
BEGIN SELECT RAISE(ABORT, 'a change of the account is never rewritten'); END;

-- The account and the key of checkpoints change by a rotation and in no other way.
DROP TRIGGER meta_story;
CREATE TRIGGER meta_story BEFORE UPDATE ON meta
WHEN NEW.ledger_id IS NOT OLD.ledger_id OR NEW.setting IS NOT OLD.setting OR NEW.created_s IS NOT OLD.created_s
     OR (OLD.key_address IS NOT NULL AND NEW.key_address IS NOT OLD.key_address
         AND NOT EXISTS (SELECT 1 FROM rotation WHERE from_account = OLD.key_address AND to_account = NEW.key_address))
     OR NEW.event_seq < OLD.event_seq
BEGIN SELECT RAISE(ABORT, 'the ledger keeps its name'); END;
DROP TRIGGER audit_story;
CREATE TRIGGER audit_story BEFORE UPDATE ON audit
WHEN NEW.id IS NOT OLD.id OR NEW.epoch < OLD.epoch OR NEW.checkpoint_seq < OLD.checkpoint_seq
     OR (OLD.key IS NOT NULL AND NEW.key IS NOT OLD.key
         AND NEW.key IS NOT (SELECT audit_key FROM rotation ORDER BY seq DESC LIMIT 1))
BEGIN SELECT RAISE(ABORT, 'the log stays vouched for'); END;

-- A start looks at every change of the account, however long the log is.
CREATE INDEX event_rotated ON event (seq) WHERE kind = 'key_rotated';

-- Nothing is counted for another account than the one that pays.
CREATE TRIGGER payment_payer BEFORE INSERT ON payment WHEN NEW.payer <> (SELECT key_address FROM meta)
BEGIN SELECT RAISE(ABORT, 'a payment is of the account that pays'); END;

-- What payments may still take of an account's token.
CREATE INDEX payment_takeable ON payment (payer, chain, asset, valid_before);

-- What the operator moves out of an account: written down before it is signed, and signed as it is written here.
CREATE TABLE sweep (
    seq          INTEGER PRIMARY KEY,
    id           TEXT    NOT NULL UNIQUE CHECK (id GLOB 'w_*' AND length(id) = 34),
    state        TEXT    NOT NULL CHECK (state IN ('ordered', 'presumed', 'moved', 'unmoved')),
    account      TEXT    NOT NULL CHECK (length(account) = 42),
    destination  TEXT    NOT NULL CHECK (length(destination) = 42 AND destination <> account),
    chain        TEXT    NOT NULL CHECK (chain GLOB 'eip155:[0-9]*'),
    asset        TEXT    NOT NULL CHECK (length(asset) = 42 AND asset <> destination),
    symbol       TEXT    NOT NULL,
    amount       TEXT    NOT NULL CHECK (length(amount) = 39 AND amount NOT GLOB '*[^0-9]*'
                                         AND amount <> '000000000000000000000000000000000000000'),
    money        TEXT    NOT NULL CHECK (length(money) = 39 AND money NOT GLOB '*[^0-9]*'),
    currency     TEXT    NOT NULL CHECK (currency GLOB '[A-Z][A-Z][A-Z]'),
    nonce        TEXT    NOT NULL CHECK (length(nonce) = 64 AND nonce NOT GLOB '*[^0-9a-f]*'),
    valid_before INTEGER NOT NULL CHECK (created_s < valid_before),
    created_s    INTEGER NOT NULL CHECK (created_s >= 0),
    -- What may be added later:
    proof        TEXT    CHECK (json_valid(proof)) CHECK ((proof IS NOT NULL) = (state IN ('moved', 'unmoved'))),
    ended_s      INTEGER CHECK ((ended_s IS NULL) = (state = 'ordered'))
) STRICT;
CREATE UNIQUE INDEX sweep_live ON sweep (account, chain, asset) WHERE state = 'ordered';
CREATE UNIQUE INDEX sweep_nonce ON sweep (chain, asset, account, nonce);
-- What the log tells of one: the id is what its words begin with.
CREATE INDEX event_sweep ON event (substr(detail, 1, 34), seq) WHERE kind IN ('sweep_ordered', 'sweep_ended');

CREATE TRIGGER sweep_begins BEFORE INSERT ON sweep
WHEN NEW.state <> 'ordered' OR NOT EXISTS (SELECT 1 FROM meta WHERE key_address = NEW.account
     UNION ALL SELECT 1 FROM rotation WHERE from_account = NEW.account)
BEGIN SELECT RAISE(ABORT, 'a sweep begins as ordered, out of an account of the ledger'); END;
CREATE TRIGGER sweep_stays BEFORE DELETE ON sweep
BEGIN SELECT RAISE(ABORT, 'a sweep is never deleted'); END;
CREATE TRIGGER sweep_story BEFORE UPDATE ON sweep
WHEN NEW.seq IS NOT OLD.seq OR NEW.id IS NOT OLD.id OR NEW.account IS NOT OLD.account
     OR NEW.destination IS NOT OLD.destination OR NEW.chain IS NOT OLD.chain OR NEW.asset IS NOT OLD.asset
     OR NEW.symbol IS NOT OLD.symbol OR NEW.amount IS NOT OLD.amount OR NEW.money IS NOT OLD.money
     OR NEW.currency IS NOT OLD.currency OR NEW.nonce IS NOT OLD.nonce OR NEW.valid_before IS NOT OLD.valid_before
     OR NEW.created_s IS NOT OLD.created_s
     OR NOT ((OLD.state = 'ordered' AND NEW.state IN ('presumed', 'moved', 'unmoved'))
             OR (OLD.state = 'presumed' AND NEW.state IN ('moved', 'unmoved')))
BEGIN SELECT RAISE(ABORT, 'a sweep keeps its story'); END;
