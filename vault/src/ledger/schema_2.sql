-- The ledger, version 2: what was added to version 1.

-- The tags that a payment carried when it was counted, whatever the rules say later.
CREATE TABLE payment_tag (
    payment TEXT NOT NULL REFERENCES payment (id),
    tag     TEXT NOT NULL CHECK (length(tag) BETWEEN 1 AND 24 AND tag NOT GLOB '*[^a-z0-9-]*'),
    PRIMARY KEY (payment, tag)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER payment_tag_begins BEFORE INSERT ON payment_tag
WHEN NOT EXISTS (SELECT 1 FROM payment WHERE id = NEW.payment AND state IN ('held', 'exposed')
                 AND signature IS NULL AND created_s = updated_s)
BEGIN SELECT RAISE(ABORT, 'a payment is tagged when it begins'); END;
CREATE TRIGGER payment_tag_stays BEFORE DELETE ON payment_tag
BEGIN SELECT RAISE(ABORT, 'a payment keeps its tags'); END;
CREATE TRIGGER payment_tag_story BEFORE UPDATE ON payment_tag
BEGIN SELECT RAISE(ABORT, 'a payment keeps its tags'); END;
