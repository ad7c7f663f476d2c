-- The ledger, version 6: what was added to version 5. What was spent is kept in one tree, by key and time, instead of three:
-- a payment is spent once because it ends once, and the sums are checked against the rows.
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
