-- +goose Up
CREATE TABLE message (
    id         uuid        PRIMARY KEY,
    account_id uuid        NOT NULL REFERENCES account,
    kind       text        NOT NULL,
    about      text        NOT NULL CHECK (char_length(about) <= 300),
    detail     text        NOT NULL CHECK (char_length(detail) <= 500),
    path       text        NOT NULL CHECK (path LIKE '/portal/%'),
    created_at timestamptz NOT NULL,
    read_at    timestamptz
);
CREATE INDEX message_account ON message (account_id, id);
CREATE INDEX message_unread ON message (account_id) WHERE read_at IS NULL;
CREATE INDEX message_created ON message (created_at);
COMMENT ON TABLE message IS 'What a person finds under Messages in the portal, each also sent as an e-mail unless the person has muted its kind. Deleted after 90 days. No phone number and no secret.';
COMMENT ON COLUMN message.kind IS 'The kind of the e-mail that says the same.';
COMMENT ON COLUMN message.about IS 'The name of what it is about: an organisation, a file, a document.';
COMMENT ON COLUMN message.path IS 'The page of the portal where the person can act.';
COMMENT ON COLUMN message.read_at IS 'Null until the person has opened it or marked it as read.';

CREATE TABLE message_mute (
    account_id uuid NOT NULL REFERENCES account,
    kind       text NOT NULL,
    PRIMARY KEY (account_id, kind)
);
COMMENT ON TABLE message_mute IS 'Kinds of message that a person does not want as an e-mail. They stay in the portal.';

GRANT SELECT, INSERT, UPDATE, DELETE ON message TO lineproof_serve;
GRANT SELECT, INSERT, DELETE ON message_mute TO lineproof_serve;
GRANT SELECT ON message, message_mute TO lineproof_read;

-- +goose Down
DROP TABLE message_mute;
DROP TABLE message;
