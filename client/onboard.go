package client

import (
	"context"
	"crypto/rand"
)

// Application is a pre-approved telco to onboard, and its admin.
type Application struct {
	CAC              string // the company's CAC registration number
	Name             string
	DocumentRequired bool // whether the telco must upload documents
	AdminName        string
	AdminPhone       string // of any country; no other account may have it
	AdminEmail       string // no other account may have it
	AdminPassword    Secret

	// IdempotencyKey identifies this application, in at most 255 printable ASCII
	// characters: a request with the same key within a day gets the first response
	// and creates nothing. Empty means a new key for the attempts of one call.
	IdempotencyKey string
}

// Entity is an onboarded telco and its admin.
type Entity struct {
	UID              string `json:"entityUid"`
	Name             string `json:"entityName"`
	CAC              string `json:"cacNo"`
	Type             string `json:"entityType"`
	Status           string `json:"entityStatus"`
	DocumentRequired bool   `json:"isDocumentRequired"`
	AdminUID         string `json:"adminUid"`
	AdminName        string `json:"adminName"`
	AdminEmail       string `json:"adminEmail"`
	AdminPhone       string `json:"adminPhone"`
	AdminVerified    bool   `json:"isAdminVerified"`
	Message          string `json:"message"` // what to do next, for people
}

// Onboard registers a telco and its admin: both are created, or neither. The token needs [ScopeOnboard]. If the admin's e-mail address or
// phone number has an account, the error's code is [CodeAlreadyExists]; it does not say which.
func (c *Client) Onboard(ctx context.Context, token Secret, a Application) (*Entity, error) {
	r, err := c.newRequest(ctx, "onboard", "/api/regulator/v1/onboard-entity")
	if err != nil {
		return nil, err
	}
	if err := r.authorize(token); err != nil {
		return nil, err
	}
	if err := r.once(a.IdempotencyKey); err != nil {
		return nil, err
	}
	err = r.sendJSON(map[string]any{
		"cac":                a.CAC,
		"name":               a.Name,
		"isDocumentRequired": a.DocumentRequired,
		"adminName":          a.AdminName,
		"adminPhone":         a.AdminPhone,
		"adminEmail":         a.AdminEmail,
		"adminPassword":      string(a.AdminPassword),
	})
	if err != nil {
		return nil, err
	}
	return sendData(ctx, c, r, func(d *Entity) bool { return d.UID == "" || d.AdminUID == "" || d.Status == "" })
}

// once sets the Idempotency-Key of r, so that it takes effect once however often
// it is sent.
func (r *request) once(key string) error {
	if key == "" {
		key = rand.Text()
	}
	r.repeatable = true
	return r.set("Idempotency-Key", key)
}
