-- +goose Up
CREATE TABLE approval (
    id           uuid        PRIMARY KEY,
    kind         text        NOT NULL CHECK (char_length(kind) BETWEEN 1 AND 64),
    subject_id   uuid        NOT NULL,
    entity_id    uuid,
    details      jsonb       NOT NULL,
    reason       text        NOT NULL CHECK (char_length(reason) BETWEEN 1 AND 500),
    state        text        NOT NULL CHECK (state IN ('waiting', 'given', 'refused', 'lapsed')),
    asked_kind   text        NOT NULL CHECK (asked_kind IN ('account', 'operator')),
    asked_by     uuid,
    asked_at     timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL,
    decided_kind text        CHECK (decided_kind IN ('account', 'operator', 'system')),
    decided_by   uuid,
    decided_at   timestamptz,
    rejected_for text        NOT NULL DEFAULT '' CHECK (char_length(rejected_for) <= 500),
    row_sum      bytea,
    row_mac      bytea,
    CHECK ((asked_kind = 'account') = (asked_by IS NOT NULL)),
    CHECK ((coalesce(decided_kind, '') = 'account') = (decided_by IS NOT NULL)),
    CHECK ((state IN ('given', 'refused')) = (decided_kind IS NOT NULL)),
    CHECK ((decided_kind IS NULL) = (decided_at IS NULL)),
    CHECK (rejected_for = '' OR state = 'refused'),
    CONSTRAINT approval_two_people CHECK (state <> 'given' OR (decided_kind, decided_by) IS DISTINCT FROM (asked_kind, asked_by))
);
CREATE UNIQUE INDEX approval_waiting ON approval (kind, subject_id) WHERE state = 'waiting';
CREATE INDEX approval_asked ON approval (asked_at);
COMMENT ON TABLE approval IS 'Changes that need two people: a change takes effect when a second member of staff confirms it, in that transaction.';
COMMENT ON COLUMN approval.kind IS 'The kind of change; the packages that make the changes define the kinds.';
COMMENT ON COLUMN approval.entity_id IS 'The entity that the change concerns; null for none.';
COMMENT ON COLUMN approval.details IS 'The parameters of the change. Never a secret, an e-mail address or a phone number.';
COMMENT ON COLUMN approval.asked_by IS 'The account that requested the change; null for the operator at the command line.';
COMMENT ON COLUMN approval.expires_at IS 'From then on the request cannot be confirmed. Its state becomes lapsed when the same change is requested again.';
COMMENT ON CONSTRAINT approval_two_people ON approval IS 'Nobody can confirm their own request, even if the program has a bug.';
COMMENT ON COLUMN approval.decided_kind IS 'system: no second person; the requester used break-glass and confirmed it after the delay.';
COMMENT ON COLUMN approval.rejected_for IS 'Why the second person rejected it, for the requester to read; empty if the requester withdrew it without a word.';
COMMENT ON COLUMN approval.row_sum IS 'As in account.';
COMMENT ON COLUMN approval.row_mac IS 'As in account.';
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON approval FOR EACH ROW EXECUTE FUNCTION row_summed(
    'id', 'kind', 'subject_id', 'entity_id', 'details', 'reason', 'state', 'asked_kind', 'asked_by', 'asked_at', 'expires_at', 'decided_kind', 'decided_by', 'decided_at', 'rejected_for');
CREATE TRIGGER row_inserted AFTER INSERT ON approval FOR EACH ROW EXECUTE FUNCTION row_changed('id');
CREATE TRIGGER row_updated AFTER UPDATE ON approval FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION row_changed('id');

CREATE TABLE break_glass (
    approval_id uuid        PRIMARY KEY REFERENCES approval,
    reason      text        NOT NULL CHECK (char_length(reason) BETWEEN 1 AND 500),
    at          timestamptz NOT NULL,
    row_sum     bytea,
    row_mac     bytea
);
COMMENT ON TABLE break_glass IS 'Requests that their requester may confirm alone, 24 hours after all staff were notified. Rows are never changed.';
COMMENT ON COLUMN break_glass.reason IS 'Why it cannot wait for a second person.';
COMMENT ON COLUMN break_glass.row_sum IS 'As in account.';
COMMENT ON COLUMN break_glass.row_mac IS 'As in account.';
CREATE TRIGGER row_summed BEFORE INSERT OR UPDATE ON break_glass FOR EACH ROW EXECUTE FUNCTION row_summed(
    'approval_id', 'reason', 'at');
CREATE TRIGGER row_inserted AFTER INSERT ON break_glass FOR EACH ROW EXECUTE FUNCTION row_changed('approval_id');
CREATE TRIGGER row_updated AFTER UPDATE ON break_glass FOR EACH ROW WHEN (OLD.row_sum IS DISTINCT FROM NEW.row_sum) EXECUTE FUNCTION row_changed('approval_id');

-- The number is here and not in approval, because rows of approval are never deleted.
CREATE TABLE who_asked (
    id         uuid        PRIMARY KEY,
    number     bigint      NOT NULL,
    first_day  date        NOT NULL,
    last_day   date        NOT NULL,
    allowed    boolean     NOT NULL,
    expires_at timestamptz NOT NULL,
    CHECK (last_day >= first_day)
);
CREATE INDEX who_asked_expires ON who_asked (expires_at);
COMMENT ON TABLE who_asked IS 'Requested searches of all answers about one number. A second person allows each; a row is deleted when it expires.';
COMMENT ON COLUMN who_asked.id IS 'The subject of the approval.';
COMMENT ON COLUMN who_asked.expires_at IS 'Seven days after the request; after the confirmation, seven days after that.';

GRANT SELECT, INSERT, UPDATE ON approval TO lineproof_serve;
GRANT SELECT, INSERT ON break_glass TO lineproof_serve;
GRANT UPDATE (row_mac) ON break_glass TO lineproof_serve; -- rows that are never changed are signed, too
GRANT SELECT, INSERT, UPDATE, DELETE ON who_asked TO lineproof_serve;
GRANT SELECT ON approval, break_glass TO lineproof_read;
GRANT SELECT (id, first_day, last_day, allowed, expires_at) ON who_asked TO lineproof_read;

-- +goose Down
DROP TABLE who_asked;
DROP TABLE break_glass;
DROP TABLE approval;
