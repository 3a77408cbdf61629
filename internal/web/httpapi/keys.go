package httpapi

import (
	"math"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/values/fault"
)

const keysPath = "/api/regulator/v1/keys"

// errStaffHasNoKeys is for the regulator's staff, who belong to no entity.
var errStaffHasNoKeys = fault.New(fault.PermissionDenied, "API keys belong to an organisation, and this account has none. Log in with an account of the organisation.")

type keyResponse struct {
	KeyID        string   `json:"keyId"`
	Name         string   `json:"name"`
	Mode         string   `json:"mode"`
	Purpose      string   `json:"purpose"`
	PurposeCode  string   `json:"purposeCode"`
	Preview      string   `json:"preview"`
	Networks     []string `json:"networks"`
	Rights       []string `json:"rights"`
	CreatedAt    string   `json:"createdAt"`
	ExpiresAt    *string  `json:"expiresAt"`
	RevokedAt    *string  `json:"revokedAt"`
	LastUsedAt   *string  `json:"lastUsedAt"`
	LastUsedFrom string   `json:"lastUsedFrom"`
	Replaces     *string  `json:"replaces"`
}

// newKeyResponse is a new key. The service shows apiKey only once.
type newKeyResponse struct {
	KeyID  string `json:"keyId"`
	APIKey string `json:"apiKey"`
}

// ownEntity returns the caller, who must belong to an entity.
func ownEntity(r *http.Request) (access.Principal, error) {
	who := principal(r.Context())
	if who.Entity == uuid.Nil {
		return who, errStaffHasNoKeys
	}
	return who, nil
}

// listKeys serves GET /api/regulator/v1/keys.
func (a *API) listKeys(w http.ResponseWriter, r *http.Request) error {
	who, err := ownEntity(r)
	if err != nil {
		return err
	}
	keys, err := a.Access.Keys(r.Context(), who.Entity)
	if err != nil {
		return err
	}
	list := make([]keyResponse, len(keys))
	for i := range keys {
		list[i] = keyOf(&keys[i])
	}
	return a.respond(w, r, map[string]any{"keys": list})
}

func keyOf(k *access.KeyRow) keyResponse {
	answer := keyResponse{
		KeyID: k.ID.String(), Name: k.Name, Mode: k.Mode, Purpose: k.PurposeWords(), PurposeCode: k.Purpose, Preview: k.Preview, Networks: make([]string, len(k.Networks)), Rights: k.Rights,
		CreatedAt: stamp(k.CreatedAt), ExpiresAt: stampOrNull(k.ExpiresAt), RevokedAt: stampOrNull(k.RevokedAt), LastUsedAt: stampOrNull(k.LastUsedAt),
		LastUsedFrom: k.LastUsedFrom,
	}
	for i, n := range k.Networks {
		answer.Networks[i] = n.String()
	}
	if k.Replaces != uuid.Nil {
		replaces := k.Replaces.String()
		answer.Replaces = &replaces
	}
	return answer
}

const maxNetworks = 64

// createKey serves POST /api/regulator/v1/keys.
func (a *API) createKey(w http.ResponseWriter, r *http.Request) error {
	who, err := ownEntity(r)
	if err != nil {
		return err
	}
	f := access.KeyForm{Entity: who.Entity}
	var networks []string
	days := noDays
	found, err := decode(r, field{name: "name", text: &f.Name}, field{name: "mode", text: &f.Mode}, field{name: "purpose", text: &f.Purpose},
		field{name: "expiresInDays", number: &days}, field{name: "networks", list: &networks, maxItems: maxNetworks},
		field{name: "rights", list: &f.Rights, maxItems: len(access.KeyRights)})
	if err != nil {
		return err
	}
	var wrong fault.Form
	if days != noDays {
		wrong.Check(days >= 0 && days <= maxExpiryDays, "expiresInDays", fault.NotAllowed, "Must be 1 to 3650 days, or 0 for a key that does not expire. Without the field, a live key expires after a year.")
		f.Expires = access.Days(days)
	}
	for _, text := range networks {
		network, err := access.ParseNetwork(text)
		wrong.Check(err == nil, "networks", fault.BadFormat, "Each must be an address or a network in CIDR notation, for example 192.0.2.7, 192.0.2.0/24 or 2001:db8::/32.")
		f.Networks = append(f.Networks, network)
	}
	if err := mergeViolations(found, wrong.Err()); err != nil {
		return err
	}
	key, err := a.Access.CreateKey(r.Context(), f, who.Actor(), requestID(r.Context()))
	if err != nil {
		return err
	}
	return a.respond(w, r, newKeyResponse{KeyID: key.ID.String(), APIKey: key.Text.Reveal()})
}

const (
	maxExpiryDays = 3650
	noDays        = math.MinInt // the request says nothing about the expiry
)

// rollKey serves POST /api/regulator/v1/keys/{keyId}/roll.
func (a *API) rollKey(w http.ResponseWriter, r *http.Request) error {
	who, id, err := ownKey(r)
	if err != nil {
		return err
	}
	var hours int
	found, err := decode(r, field{name: "overlapHours", number: &hours})
	if err != nil {
		return err
	}
	var wrong fault.Form
	wrong.Check(hours >= 0 && hours <= int(access.MaxOverlap/time.Hour), "overlapHours", fault.NotAllowed,
		"Must be 0 to 168 hours. Leave the field out to revoke the old key now.")
	if err := mergeViolations(found, wrong.Err()); err != nil {
		return err
	}
	key, err := a.Access.RollKey(r.Context(), who.Entity, id, time.Duration(hours)*time.Hour, who.Actor(), requestID(r.Context()))
	if err != nil {
		return err
	}
	return a.respond(w, r, newKeyResponse{KeyID: key.ID.String(), APIKey: key.Text.Reveal()})
}

// revokeKey serves DELETE /api/regulator/v1/keys/{keyId}.
func (a *API) revokeKey(w http.ResponseWriter, r *http.Request) error {
	who, id, err := ownKey(r)
	if err != nil {
		return err
	}
	if err := a.Access.RevokeKey(r.Context(), who.Entity, id, who.Actor(), requestID(r.Context())); err != nil {
		return err
	}
	return a.respond(w, r, struct{}{})
}

// reportKey serves POST /api/regulator/v1/keys/{keyId}/report-leaked.
func (a *API) reportKey(w http.ResponseWriter, r *http.Request) error {
	who, id, err := ownKey(r)
	if err != nil {
		return err
	}
	if err := a.Access.ReportLeak(r.Context(), who.Entity, id, who.Actor(), requestID(r.Context())); err != nil {
		return err
	}
	return a.respond(w, r, struct{}{})
}

// ownKey returns the caller and the id of the key in the path. An invalid id gets
// the same error as the key of another organisation.
func ownKey(r *http.Request) (access.Principal, uuid.UUID, error) {
	who, err := ownEntity(r)
	if err != nil {
		return who, uuid.Nil, err
	}
	id, err := pathID(r, "keyId", access.ErrNoKey)
	return who, id, err
}
