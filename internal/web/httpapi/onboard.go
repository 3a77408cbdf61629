package httpapi

import (
	"bytes"
	"encoding/json/v2"
	"net/http"

	"github.com/lineproof/lineproof/internal/access/idempotency"
	"github.com/lineproof/lineproof/internal/platform/pg"
	"github.com/lineproof/lineproof/internal/regulator/registry"
	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

type onboardResponse struct {
	EntityUID          string `json:"entityUid"`
	EntityName         string `json:"entityName"`
	CACNo              string `json:"cacNo"`
	EntityType         string `json:"entityType"`
	EntityStatus       string `json:"entityStatus"`
	IsDocumentRequired bool   `json:"isDocumentRequired"`
	AdminUID           string `json:"adminUid"`
	AdminName          string `json:"adminName"`
	AdminEmail         string `json:"adminEmail"`
	AdminPhone         string `json:"adminPhone"`
	IsAdminVerified    bool   `json:"isAdminVerified"`
	Message            string `json:"message"`
}

// onboardEntity serves POST /api/regulator/v1/onboard-entity.
func (a *API) onboardEntity(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var f registry.ApplicationForm
	var password string
	found, err := decode(r,
		field{name: "cac", text: &f.CAC}, field{name: "name", text: &f.Name},
		field{name: "isDocumentRequired", flag: &f.DocumentRequired, required: true},
		field{name: "adminName", text: &f.AdminName}, field{name: "adminPhone", text: &f.AdminPhone},
		field{name: "adminEmail", text: &f.AdminEmail}, field{name: "adminPassword", text: &password})
	if err != nil {
		return err
	}
	f.AdminPassword = secret.Text(password)
	key, keyErr := idempotencyKey(r)
	found = append(found, keyErr...)
	// Checked first: hashing the password of a request that fails anyway is costly.
	if err := mergeViolations(found, a.Registry.Check(f)); err != nil {
		return err
	}
	who := principal(ctx)
	onboard, err := a.People.PrepareOnboarding(ctx, f, who, requestID(ctx))
	if err != nil {
		return err
	}
	ticket := idempotency.Ticket{Caller: who.Caller(), Operation: "onboard-entity", Key: key, Body: onboardBody(f)}
	return a.once(w, r, ticket, func(tx pg.Tx) (any, error) {
		onboarded, err := onboard(tx)
		if err != nil {
			return nil, err
		}
		entity, admin := onboarded.Entity, onboarded.Admin
		return onboardResponse{
			EntityUID: entity.ID.String(), EntityName: entity.Name, CACNo: entity.CAC, EntityType: a.RegulatorCode,
			EntityStatus: string(entity.Status), IsDocumentRequired: entity.DocumentRequired,
			AdminUID: admin.ID.String(), AdminName: admin.Name, AdminEmail: admin.Email, AdminPhone: admin.Phone,
			IsAdminVerified: admin.Verified, Message: onboardMessage(entity.DocumentRequired),
		}, nil
	}, nil)
}

func onboardMessage(documentRequired bool) string {
	if documentRequired {
		return "The entity is registered and approved. Upload its documents next."
	}
	return "The entity is registered and approved."
}

// onboardBody is what makes two requests the same for the idempotency key: the
// values, not their order or the white space between them.
func onboardBody(f registry.ApplicationForm) []byte {
	required := "false"
	if f.DocumentRequired {
		required = "true"
	}
	return bytes.Join([][]byte{
		[]byte(f.CAC), []byte(f.Name), []byte(required), []byte(f.AdminName), []byte(f.AdminPhone), []byte(f.AdminEmail),
		[]byte(f.AdminPassword.Reveal()),
	}, []byte{0})
}

// once sends what fn returns, or the stored response if a request with the
// ticket's key took effect before. Headers, if not nil, sets response headers from
// the body, for the first response and for repeated ones.
func (a *API) once(w http.ResponseWriter, r *http.Request, t idempotency.Ticket, fn func(tx pg.Tx) (any, error), headers func(body []byte)) error {
	body, _, err := a.storeOnce(w, r, t, fn)
	if err != nil {
		return err
	}
	if headers != nil {
		headers(body)
	}
	send(w, r, http.StatusOK, body)
	return nil
}

// storeOnce is once without sending the response. Replayed says that it is the stored one.
func (a *API) storeOnce(w http.ResponseWriter, r *http.Request, t idempotency.Ticket, fn func(tx pg.Tx) (any, error)) (body []byte, replayed bool, err error) {
	body, replayed, err = a.Answers.Do(r.Context(), t, func(tx pg.Tx) ([]byte, error) {
		data, err := fn(tx)
		if err != nil {
			return nil, err
		}
		return json.Marshal(success(data))
	})
	if err == nil && replayed {
		w.Header().Set("Idempotency-Replayed", "true")
	}
	return body, replayed, err
}

// idempotencyKey returns the request's Idempotency-Key, or "". The quotation
// marks of a structured header are removed.
func idempotencyKey(r *http.Request) (string, []fault.Violation) {
	const name, maxLength = "Idempotency-Key", 255
	sent := r.Header.Values(name)
	if len(sent) == 0 {
		return "", nil
	}
	key := sent[0]
	if len(key) >= 2 && key[0] == '"' && key[len(key)-1] == '"' {
		key = key[1 : len(key)-1]
	}
	printable := func() bool {
		for _, c := range []byte(key) {
			if c < 0x20 || c > 0x7e {
				return false
			}
		}
		return true
	}
	if len(sent) > 1 || key == "" || len(key) > maxLength || !printable() {
		return "", []fault.Violation{{Field: name, Code: fault.BadFormat, Message: "Send one key of 1 to 255 printable ASCII characters."}}
	}
	return key, nil
}
