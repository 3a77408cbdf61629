-- +goose Up
-- Staff look into the trail by what was done, by what sort of actor, and by the
-- request; a rare one must not have the whole of it read.
CREATE INDEX audit_sort ON audit (action, actor_kind, at, id);
CREATE INDEX audit_request ON audit (request_id, at) WHERE request_id IS NOT NULL;
-- What the guard found, of one entity and of those that end by themselves.
CREATE INDEX guard_alert_entity ON guard_alert (entity_id, since);
CREATE INDEX guard_alert_ends ON guard_alert (ends_at) WHERE ends_at IS NOT NULL;

-- +goose Down
DROP INDEX guard_alert_ends;
DROP INDEX guard_alert_entity;
DROP INDEX audit_request;
DROP INDEX audit_sort;
