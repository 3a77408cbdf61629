-- +goose Up
CREATE TABLE document (
    id          uuid        PRIMARY KEY,
    entity_id   uuid        NOT NULL REFERENCES entity,
    type        text        NOT NULL,
    label       text        NOT NULL,
    file_name   text        NOT NULL,
    media_type  text        NOT NULL,
    size        bigint      NOT NULL CHECK (size > 0),
    sha256      bytea       NOT NULL CHECK (octet_length(sha256) = 32),
    uploader    text        NOT NULL CHECK (uploader IN ('client', 'account')),
    uploader_id uuid        NOT NULL,
    created_at  timestamptz NOT NULL,
    state       text        NOT NULL CHECK (state IN ('received', 'scanning', 'clean', 'refused', 'infected', 'accepted', 'rejected', 'deleted')),
    reason      text        NOT NULL DEFAULT '' CHECK (char_length(reason) <= 64),
    note        text        NOT NULL DEFAULT '' CHECK (char_length(note) <= 500),
    moved_at    timestamptz,
    replaced_by uuid        CONSTRAINT document_replaced_by_unique UNIQUE REFERENCES document,
    held_at     timestamptz,
    held_for    text        NOT NULL DEFAULT '' CHECK (char_length(held_for) <= 500),
    CONSTRAINT document_held_check CHECK ((held_at IS NULL) = (held_for = '')),
    CONSTRAINT document_held_stays CHECK (held_at IS NULL OR state <> 'deleted')
);
CREATE INDEX document_entity ON document (entity_id, created_at);
CREATE INDEX document_entity_id ON document (entity_id, id);
CREATE INDEX document_state ON document (state, id);
COMMENT ON TABLE document IS 'Documents that entities uploaded. The content is in the blob store under the id. The row stays when the content is deleted.';
COMMENT ON COLUMN document.label IS 'The type as it was sent; type is OTHER if it is none of the known types.';
COMMENT ON COLUMN document.file_name IS 'Metadata only, never used as a path.';
COMMENT ON COLUMN document.state IS 'The current state; document_move has the history. The content can be opened only in the states clean, accepted and rejected.';
COMMENT ON COLUMN document.reason IS 'A code for why it is in this state; empty if the state needs no reason.';
COMMENT ON COLUMN document.note IS 'The reason in words: a message of the service to the uploader, or the reviewer''s own.';
COMMENT ON COLUMN document.moved_at IS 'When it entered this state; null if it is still in its first state.';
COMMENT ON COLUMN document.replaced_by IS 'The document that was uploaded to replace this one, which was rejected, refused or infected.';
COMMENT ON COLUMN document.held_at IS 'Since when a legal hold prevents its deletion by anyone, including retention; null if there is none.';
COMMENT ON COLUMN document.held_for IS 'The reason of the legal hold.';

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
COMMENT ON TABLE document_move IS 'Every change of state of every document, written in the transaction that made it. Append-only: the serving role may not change a row, and a trigger refuses it even to the owner.';
COMMENT ON COLUMN document_move.seq IS 'Counts the changes of one document from 1. Its upload, in the state received, is not a change.';
COMMENT ON CONSTRAINT document_move_way ON document_move IS 'The allowed changes of state. A document becomes clean only after scanning, even if the program has a bug.';

-- +goose StatementBegin
CREATE FUNCTION document_move_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the history of a document is append-only' USING ERRCODE = 'insufficient_privilege';
END
$$;
-- +goose StatementEnd
COMMENT ON FUNCTION document_move_is_append_only IS 'Refuses to change or delete rows of document_move.';
CREATE TRIGGER document_move_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON document_move
    FOR EACH STATEMENT EXECUTE FUNCTION document_move_is_append_only();

-- The serving role may change the state of a document and nothing that was uploaded.
GRANT SELECT, INSERT ON document, document_move TO lineproof_serve;
GRANT UPDATE (state, reason, note, moved_at, replaced_by, held_at, held_for) ON document TO lineproof_serve;
GRANT SELECT ON document, document_move TO lineproof_read;

-- +goose Down
DROP TABLE document_move;
DROP FUNCTION document_move_is_append_only;
DROP TABLE document;
