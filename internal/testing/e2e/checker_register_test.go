package e2e_test

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/google/uuid"
)

type entityRow struct {
	ID                         uuid.UUID
	Name, CAC, Status          string
	DocumentRequired, Supplies bool
	Client                     uuid.NullUUID
}

type accountRow struct {
	ID                    uuid.UUID
	Kind                  string
	Entity                uuid.NullUUID
	Name, Email, EmailKey string
	Phone                 *int64
	HasPassword, Verified bool
}

type auditRow struct {
	ActorKind string
	Actor     uuid.NullUUID
	Subject   uuid.UUID
	Entity    uuid.NullUUID
}

// register has the rows of the database about entities, by entity.
type register struct {
	entities map[uuid.UUID]entityRow
	admins   map[uuid.UUID][]accountRow
	byEmail  map[string][]accountRow
	trail    map[uuid.UUID][]auditRow
	kept     map[uuid.UUID][]made // answers kept under an Idempotency-Key
}

// register checks the onboardings: entity, admin, audit row and kept answer are
// there together and once, or none of them is.
func (c *checker) register(ctx context.Context, q querier) error {
	r, err := c.load(ctx, q)
	if err != nil {
		return err
	}
	// Conflicting applications share an address: they are checked together.
	groups := make(map[string][]*entry)
	for _, e := range c.book {
		if e.sent.Applied != nil {
			key := strings.ToLower(e.sent.Applied.AdminEmail)
			groups[key] = append(groups[key], e)
		}
	}
	for key, group := range groups {
		c.applications(key, group, r)
	}
	for id, e := range r.entities {
		admins := r.admins[id]
		if !e.Client.Valid {
			c.want(len(admins) == 0, phantom, "entity %s was not onboarded and has an admin", id)
			continue
		}
		c.want(len(admins) == 1, altered, "entity %s has %d admins", id, len(admins))
		c.want(len(r.trail[id]) == 1, altered, "the onboarding of entity %s stands %d times in the audit trail", id, len(r.trail[id]))
		if id == c.world.telco.ID {
			continue // it was onboarded without a key, before the ledger started
		}
		c.want(len(r.kept[id]) == 1, altered, "the answer about entity %s is kept %d times", id, len(r.kept[id]))
		for _, a := range admins {
			c.want(groups[a.EmailKey] != nil, phantom, "entity %s has an admin for whom nobody applied", id)
			c.want(len(r.kept[id]) == 0 || r.kept[id][0].AdminUID == a.ID.String(), altered, "the answer about entity %s names another admin", id)
		}
	}
	for id := range r.trail {
		_, there := r.entities[id]
		c.want(there, altered, "the audit trail says that entity %s was onboarded, and it is not there", id)
	}
	for id := range r.kept {
		_, there := r.entities[id]
		c.want(there, altered, "an answer is kept about entity %s, which is not there", id)
	}
	return nil
}

// applications checks the applications with one address: at most one has taken
// effect, and if so as it was sent and as it was answered.
func (c *checker) applications(key string, group []*entry, r register) {
	accounts := r.byEmail[key]
	c.want(len(accounts) <= 1, duplicate, "%d accounts have the address of application %s", len(accounts), group[0].sent.ID)
	possible, answered := false, 0
	for _, e := range group {
		possible = possible || c.may(e.outcome())
		if e.outcome() != okay {
			continue
		}
		answered++
		c.answeredApplication(e, r)
	}
	c.want(answered <= 1, duplicate, "%d applications with one address were answered with success", answered)
	c.want(possible || len(accounts) == 0, phantom, "application %s ended as %s and has an account", group[0].sent.ID, group[0].outcome())
	if len(group) == 1 && answered == 0 && len(accounts) == 1 {
		c.asSent(group[0], accounts[0], r)
	}
}

// answeredApplication checks an application whose response was a success.
func (c *checker) answeredApplication(e *entry, r register) {
	said := e.answered().Made
	for _, again := range e.ends {
		c.want(again.Outcome != okay || *again.Made == *said, duplicate, "application %s was answered twice with different ids", e.sent.ID)
	}
	id, err := uuid.Parse(said.EntityUID)
	_, there := r.entities[id]
	c.want(err == nil && there, missing, "application %s was answered and its entity is not there", e.sent.ID)
	admins := r.admins[id]
	c.want(len(admins) == 1 && admins[0].ID.String() == said.AdminUID, missing, "application %s was answered and its admin is not there", e.sent.ID)
	c.want(len(r.trail[id]) == 1, altered, "application %s was answered and stands %d times in the audit trail", e.sent.ID, len(r.trail[id]))
	if len(admins) == 1 {
		c.asSent(e, admins[0], r)
	}
}

// asSent checks that the rows have the values of the application.
func (c *checker) asSent(e *entry, a accountRow, r register) {
	sent := e.sent.Applied
	c.want(a.Kind == "admin" && a.Name == sent.AdminName && a.Email == sent.AdminEmail && a.EmailKey == strings.ToLower(sent.AdminEmail) &&
		a.Phone != nil && *a.Phone == e.sent.Phone && a.HasPassword && !a.Verified, altered, "the admin of application %s is not as sent", e.sent.ID)
	entity, there := r.entities[a.Entity.UUID]
	c.want(there, altered, "the admin of application %s has no entity", e.sent.ID)
	c.want(entity.Name == sent.Name && entity.CAC == sent.CAC && entity.DocumentRequired == sent.IsDocumentRequired &&
		entity.Status == "Approved" && entity.Supplies && entity.Client.UUID == c.world.client.ID,
		altered, "the entity of application %s is not as sent", e.sent.ID)
	for _, row := range r.trail[entity.ID] {
		c.want(row.ActorKind == "client" && row.Actor.UUID == c.world.client.ID && row.Entity.UUID == entity.ID,
			altered, "the audit trail names somebody else for application %s", e.sent.ID)
	}
}

func (c *checker) load(ctx context.Context, q querier) (register, error) {
	r := register{
		entities: make(map[uuid.UUID]entityRow), admins: make(map[uuid.UUID][]accountRow), byEmail: make(map[string][]accountRow),
		trail: make(map[uuid.UUID][]auditRow), kept: make(map[uuid.UUID][]made),
	}
	entities, err := rowsOf[entityRow](ctx, q, `SELECT id, name, cac, status, document_required, supplies, client_id FROM entity`)
	if err != nil {
		return r, err
	}
	for _, e := range entities {
		_, twice := r.entities[e.ID]
		c.want(!twice, duplicate, "entity %s stands twice", e.ID)
		r.entities[e.ID] = e
	}
	accounts, err := rowsOf[accountRow](ctx, q, `SELECT id, kind, entity_id, name, email, email_key, phone,
		coalesce(password_hash LIKE '$argon2id$%', false), verified_at IS NOT NULL FROM account`)
	if err != nil {
		return r, err
	}
	for _, a := range accounts {
		_, there := r.entities[a.Entity.UUID]
		c.want(a.Entity.Valid && there, altered, "account %s has no entity", a.ID)
		r.admins[a.Entity.UUID] = append(r.admins[a.Entity.UUID], a)
		r.byEmail[a.EmailKey] = append(r.byEmail[a.EmailKey], a)
	}
	trail, err := rowsOf[auditRow](ctx, q, `SELECT actor_kind, actor_id, subject_id, entity_id FROM audit WHERE action = 'entity.onboarded'`)
	if err != nil {
		return r, err
	}
	for _, row := range trail {
		r.trail[row.Subject] = append(r.trail[row.Subject], row)
	}
	kept, err := rowsOf[struct{ Answer []byte }](ctx, q, `SELECT answer FROM idempotency WHERE operation = 'onboard-entity'`)
	if err != nil {
		return r, err
	}
	for _, k := range kept {
		var body struct{ Data made }
		err := json.Unmarshal(k.Answer, &body)
		id, idErr := uuid.Parse(body.Data.EntityUID)
		c.want(err == nil && idErr == nil, altered, "an answer is kept that cannot be read")
		r.kept[id] = append(r.kept[id], body.Data)
	}
	return r, nil
}
