-- The ledger, version 4: what was added to version 3.

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
