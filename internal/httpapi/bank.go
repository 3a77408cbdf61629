package httpapi

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/audit"
	"github.com/lineproof/lineproof/internal/fault"
	"github.com/lineproof/lineproof/internal/httpapi/bankapi"
	"github.com/lineproof/lineproof/internal/keyright"
	"github.com/lineproof/lineproof/internal/watchlist"
	"github.com/lineproof/lineproof/internal/webhook"
)

// bankRoutes are the operations of package bankapi, for API keys.
func (a *API) bankRoutes() []route {
	operations := a.Bank.Operations()
	list := make([]route, len(operations))
	for i, op := range operations {
		timeout := map[bankapi.Limit]time.Duration{bankapi.Own: 0, bankapi.Short: a.Timeouts.Request, bankapi.File: a.Timeouts.Import}[op.Limit]
		list[i] = route{op.Method, op.Path, []access.Kind{access.APIKey}, nil, nil, timeout, a.serveBank(op)}
	}
	return list
}

func (a *API) serveBank(op bankapi.Operation) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		who := principal(r.Context())
		if op.Right != "" && !slices.Contains(who.Rights, op.Right) {
			return keyright.ErrMissing(op.Right)
		}
		return op.Serve(w, r, &bankapi.Call{
			Key:     who.ID,
			Owner:   watchlist.Owner{Entity: who.Entity, Mode: who.Mode, Budget: BudgetOf(&who)},
			By:      webhook.By{Actor: audit.Actor{Kind: audit.APIKey, ID: who.ID, From: who.From}, Request: requestID(r.Context())},
			Respond: func(data any) error { return a.respond(w, r, data) },
			Decode: func(limit int64, check func(*fault.Form), fields ...bankapi.Field) error {
				return decodeBank(w, r, limit, check, fields)
			},
			Query: func(names ...string) (url.Values, *fault.Form, error) { return readQuery(r.URL.RawQuery, names...) },
			File: func() (io.Reader, error) {
				return http.MaxBytesReader(w, r.Body, a.ImportMaxBytes), checkFile(r, a.ImportMaxBytes)
			},
			FileError: func(err error) error {
				if fault.CodeOf(err) != fault.Internal {
					return err
				}
				return bodyError(err, errFileTooLarge, errCutOff)
			},
			StillValid: func(ctx context.Context) error {
				bearer, _ := bearerOf(r)
				_, err := a.Access.Authenticate(ctx, bearer, callerAddr(r.Context()))
				return err
			},
		})
	}
}

// decodeBank reads a JSON body of an operation of package bankapi.
func decodeBank(w http.ResponseWriter, r *http.Request, limit int64, check func(*fault.Form), of []bankapi.Field) error {
	body, err := readJSON(w, r, limit, errTooLarge)
	if err != nil {
		return err
	}
	fields := make([]field, len(of))
	for i, f := range of {
		fields[i] = field{name: f.Name, text: f.Text, present: f.Present, flag: f.Flag, list: f.List, maxItems: cmp.Or(f.MaxItems, maxList)}
	}
	found, err := decodeObject(body, fields)
	if err != nil {
		return err
	}
	var wrong fault.Form
	if check != nil {
		check(&wrong)
	}
	return mergeViolations(found, wrong.Err())
}
