-- +goose Up
-- The program before this one goes on inserting with the columns it knows, so
-- every new one may be left out.
ALTER TABLE document
    ADD COLUMN reason      text NOT NULL DEFAULT '' CHECK (char_length(reason) <= 64),
    ADD COLUMN note        text NOT NULL DEFAULT '' CHECK (char_length(note) <= 500),
    ADD COLUMN moved_at    timestamptz,
    ADD COLUMN replaced_by uuid CONSTRAINT document_replaced_by_unique UNIQUE REFERENCES document,
    ADD COLUMN held_at     timestamptz,
    ADD COLUMN held_for    text NOT NULL DEFAULT '' CHECK (char_length(held_for) <= 500);
ALTER TABLE document DROP CONSTRAINT document_state_check;
ALTER TABLE document ADD CONSTRAINT document_state_check
    CHECK (state IN ('received', 'scanning', 'clean', 'refused', 'infected', 'accepted', 'rejected', 'deleted'));
ALTER TABLE document ADD CONSTRAINT document_held_check CHECK ((held_at IS NULL) = (held_for = ''));
ALTER TABLE document ADD CONSTRAINT document_held_stays CHECK (held_at IS NULL OR state <> 'deleted');
CREATE INDEX document_entity_id ON document (entity_id, id);
CREATE INDEX document_state ON document (state, id);
COMMENT ON TABLE document IS 'Papers that entities uploaded. The content is in the blob store under the id. A row stays when its content was deleted.';
COMMENT ON COLUMN document.state IS 'Where the document is on its way; document_move says how it came there. Only in clean, accepted and rejected is its content shown to anybody.';
COMMENT ON COLUMN document.reason IS 'Why it is in this state, as a code; empty where the state says it all.';
COMMENT ON COLUMN document.note IS 'The same in words: those of the service for the uploader, or the reviewer''s own.';
COMMENT ON COLUMN document.moved_at IS 'When it came into this state; null for one that was never moved.';
COMMENT ON COLUMN document.replaced_by IS 'The document that was uploaded in the place of this one, which was rejected, refused or infected.';
COMMENT ON COLUMN document.held_at IS 'Since when a legal hold keeps it from being deleted, by anybody and by retention; null for none.';
COMMENT ON COLUMN document.held_for IS 'Why it is held.';

-- What was uploaded is not changed afterwards: the serving role may move a
-- document on its way and nothing else.
REVOKE UPDATE ON document FROM lineproof_serve;
GRANT UPDATE (state, reason, note, moved_at, replaced_by, held_at, held_for) ON document TO lineproof_serve;

CREATE TABLE document_move (
    document_id uuid        NOT NULL REFERENCES document,
    seq         integer     NOT NULL CHECK (seq > 0),
    at          timestamptz NOT NULL,
    from_state  text        NOT NULL,
    to_state    text        NOT NULL,
    actor_kind  text        NOT NULL CHECK (actor_kind IN ('client', 'account', 'operator', 'system')),
    actor_id    uuid,
    reason      text        NOT NULL CHECK (char_length(reason) <= 64),
    note        text        NOT NULL CHECK (char_length(note) <= 500),
    PRIMARY KEY (document_id, seq),
    CONSTRAINT document_move_way CHECK ((from_state, to_state) IN (
        ('received', 'scanning'),
        ('scanning', 'clean'), ('scanning', 'refused'), ('scanning', 'infected'),
        ('refused', 'received'), ('infected', 'received'),
        ('clean', 'accepted'), ('clean', 'rejected'),
        ('clean', 'deleted'), ('refused', 'deleted'), ('infected', 'deleted'), ('accepted', 'deleted'), ('rejected', 'deleted')))
);
COMMENT ON TABLE document_move IS 'Every move of every document from one state to the next, written in the transaction that made it. Append-only: the serving role may not change a row, and a trigger refuses even the owner.';
COMMENT ON COLUMN document_move.seq IS 'The first move of a document is 1. It came in as received, which is no move.';
COMMENT ON CONSTRAINT document_move_way ON document_move IS 'The moves that there are. Nothing comes to clean but from scanning, whatever the code above thinks.';

-- +goose StatementBegin
CREATE FUNCTION document_move_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the history of a document is append-only' USING ERRCODE = 'insufficient_privilege';
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION document_move_is_append_only IS 'Refuses every change of the history of documents that is no new move.';
CREATE TRIGGER document_move_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON document_move
    FOR EACH STATEMENT EXECUTE FUNCTION document_move_is_append_only();

GRANT SELECT, INSERT ON document_move TO lineproof_serve;
GRANT SELECT ON document_move TO lineproof_read;

-- +goose Down
DROP TABLE document_move;
DROP FUNCTION document_move_is_append_only;
REVOKE UPDATE (state, reason, note, moved_at, replaced_by, held_at, held_for) ON document FROM lineproof_serve;
GRANT UPDATE ON document TO lineproof_serve;
DROP INDEX document_state;
DROP INDEX document_entity_id;
ALTER TABLE document DROP CONSTRAINT document_held_stays;
ALTER TABLE document DROP CONSTRAINT document_held_check;
ALTER TABLE document DROP CONSTRAINT document_state_check;
-- What has moved on stays where it is, so what is there is not checked.
ALTER TABLE document ADD CONSTRAINT document_state_check CHECK (state IN ('received')) NOT VALID;
ALTER TABLE document DROP COLUMN held_for, DROP COLUMN held_at, DROP COLUMN replaced_by, DROP COLUMN moved_at, DROP COLUMN note, DROP COLUMN reason;
COMMENT ON TABLE document IS 'Papers that entities uploaded. The content is in the blob store under the id.';
COMMENT ON COLUMN document.state IS NULL;
