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
    state       text        NOT NULL CHECK (state IN ('received')),
    uploader    text        NOT NULL CHECK (uploader IN ('client', 'account')),
    uploader_id uuid        NOT NULL,
    created_at  timestamptz NOT NULL
);
CREATE INDEX document_entity ON document (entity_id, created_at);
COMMENT ON TABLE document IS 'Papers that entities uploaded. The content is in the blob store under the id.';
COMMENT ON COLUMN document.label IS 'The type as it was sent; type is OTHER where it is none of the known ones.';
COMMENT ON COLUMN document.file_name IS 'Metadata only: never a path.';

GRANT SELECT, INSERT, UPDATE ON document TO lineproof_serve;
GRANT SELECT ON document TO lineproof_read;

-- +goose Down
DROP TABLE document;
