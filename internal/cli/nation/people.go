package nation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/lineproof/lineproof/client"
)

// The names of clients that are no operators.
const (
	clearingHouse = "Interconnect Clearing House"
	centralBank   = "Central Bank, fraud desk"
)

// The organisations that verify numbers.
const (
	harbour   = "Harbour Bank"
	savanna   = "Savanna Savings Bank"
	paylane   = "Paylane Payments"
	quickloan = "Quickloan Finance" // whose requests look like number scanning
	dormant   = "Old Mill Credit"   // suspended
)

// Two founders, because some changes need a second person.
const (
	firstFounder  = "ada@regulator.example"
	secondFounder = "bola@regulator.example"
	reviewer      = "chidi@regulator.example"
	bankAdmin     = "efua@harbourbank.example"
)

// enact sets the numbering plan and names the clearing house, before there are founders:
// after that both would take two people.
func (n *nation) enact(ctx context.Context) error {
	err := n.once("plan", func() error {
		_, err := n.run(ctx, "", "plan", "import", "--shipped")
		return err
	})
	if err != nil {
		return err
	}
	return n.once("policy", func() error {
		_, err := n.run(ctx, "", "policy", "set", "--clearing-house", clearingHouse, "--note", "it reports all ports from now on")
		return err
	})
}

// createClients creates a client for each organisation that reports.
func (n *nation) createClients(ctx context.Context) error {
	create := func(name string, args ...string) error {
		return n.once("client "+name, func() error {
			text, err := n.run(ctx, "", append([]string{"client", "create", "--json", "--name", name}, args...)...)
			if err != nil {
				return err
			}
			var c struct {
				ID     string `json:"clientId"`
				Secret string `json:"clientSecret"`
			}
			if err := decode(text, &c); err != nil {
				return err
			}
			n.st.Clients[name] = secret{c.ID, c.Secret}
			return nil
		})
	}
	for _, o := range n.lines {
		if err := create(o.name, "--network", o.code, "--vouches", "--sole", "--scope", client.ScopeOnboard, "--scope", client.ScopeUpload, "--scope", client.ScopeSupply); err != nil {
			return err
		}
	}
	if err := create(clearingHouse, "--scope", client.ScopePort); err != nil {
		return err
	}
	return create(centralBank, "--scope", client.ScopeFlag)
}

// createStaff enrols the founders, a reviewer and an auditor.
func (n *nation) createStaff(ctx context.Context) error {
	err := n.once("founders", func() error {
		args := []string{"staff", "found"}
		var founders []account
		for i, f := range []struct{ name, email string }{{"Ada Obi", firstFounder}, {"Bola Ade", secondFounder}} {
			a, _ := n.st.account("staff, administrator", f.name, f.email)
			founders = append(founders, a)
			file := n.path(fmt.Sprintf("founder-%d", i))
			if err := os.WriteFile(file, []byte(a.Password), 0o600); err != nil {
				return fmt.Errorf("nation: %w", err)
			}
			defer func() { _ = os.Remove(file) }() // the password is in the state
			args = append(args, "--founder", f.name+" <"+f.email+">", "--password-file", file)
		}
		if _, err := n.run(ctx, "", args...); err != nil {
			return err
		}
		n.st.Accounts = append(n.st.Accounts, founders...)
		return nil
	})
	if err != nil {
		return err
	}
	for _, s := range []struct{ name, email, role string }{{"Chidi Eze", reviewer, "reviewer"}, {"Dayo Bello", "dayo@regulator.example", "auditor"}} {
		a, isNew := n.st.account("staff, "+s.role, s.name, s.email)
		if !isNew {
			continue
		}
		if _, err := n.run(ctx, a.Password, "staff", "create", "--name", s.name, "--email", s.email, "--role", s.role, "--password-file", "-"); err != nil {
			return err
		}
		if err := n.st.addAccount(a); err != nil {
			return err
		}
	}
	return nil
}

// confirmReviewer lets a founder confirm the role of the reviewer, who is an auditor until then.
func (n *nation) confirmReviewer(ctx context.Context) error {
	text, err := n.run(ctx, "", "approval", "list", "--json")
	if err != nil {
		return err
	}
	var waiting []struct {
		ID string `json:"approvalId"`
	}
	if err := decode(text, &waiting); err != nil {
		return err
	}
	first, err := n.login(ctx, firstFounder)
	if err != nil {
		return err
	}
	for _, a := range waiting {
		if _, err := n.asPerson(ctx, first, "", "approval", "confirm", a.ID); err != nil {
			return err
		}
	}
	return nil
}

// createOrganisations onboards the operators over the API, each by its own client, and
// creates the banks with their people.
func (n *nation) createOrganisations(ctx context.Context) error {
	if err := n.once("reviewer", func() error { return n.confirmReviewer(ctx) }); err != nil {
		return err
	}
	for i, o := range n.lines {
		err := n.once("onboard "+o.name, func() error {
			token, err := n.token(ctx, o.name)
			if err != nil {
				return err
			}
			a, _ := n.st.account("operator, admin", o.admin, "admin@"+strings.ToLower(o.code)+".example")
			e, err := n.api.Onboard(ctx, token, client.Application{
				CAC: fmt.Sprintf("RC65432%d", i), Name: o.name, DocumentRequired: true, AdminName: a.Name, AdminEmail: a.Email,
				AdminPhone: fmt.Sprintf("+23480300000%02d", i+1), AdminPassword: client.Secret(a.Password),
			})
			if err != nil {
				return err
			}
			n.st.Entities[o.name] = e.UID
			return n.st.addAccount(a)
		})
		if err != nil {
			return err
		}
	}
	for i, name := range []string{harbour, savanna, paylane, quickloan, dormant} {
		err := n.once("entity "+name, func() error {
			text, err := n.run(ctx, "", "entity", "create", "--json", "--name", name, "--cac", fmt.Sprintf("RC12345%d", i))
			if err != nil {
				return err
			}
			var e struct {
				ID string `json:"entityUid"`
			}
			err = decode(text, &e)
			n.st.Entities[name] = e.ID
			return err
		})
		if err != nil {
			return err
		}
	}
	for _, p := range []struct{ role, kind, organisation, name, email string }{
		// Members come first: once an organisation has an admin, the operator invites nobody alone.
		{"bank, member", "member", harbour, "Femi Sule", "femi@harbourbank.example"},
		{"bank, admin", "admin", harbour, "Efua Mensah", bankAdmin},
		{"bank, admin", "admin", savanna, "Hauwa Danjuma", "hauwa@savanna.example"},
	} {
		if err := n.invite(ctx, p.role, p.kind, n.st.Entities[p.organisation], p.name, p.email); err != nil {
			return err
		}
	}
	return n.once("invitation", func() error { // which waits for an administrator, and then for the person
		_, err := n.run(ctx, "", "invite", "--kind", "member", "--entity", n.st.Entities[harbour], "--email", "kemi@harbourbank.example")
		return err
	})
}

// invite invites a person, who accepts over the API.
func (n *nation) invite(ctx context.Context, role, kind, entity, name, email string) error {
	a, isNew := n.st.account(role, name, email)
	if !isNew {
		return nil
	}
	link, err := n.run(ctx, "", "invite", "--link", "--kind", kind, "--entity", entity, "--email", email)
	if err != nil {
		return err
	}
	_, token, _ := strings.Cut(strings.TrimSpace(link), "#")
	if err := n.post(ctx, "/api/regulator/v1/invitations/accept", "", map[string]any{"token": token, "name": name, "password": a.Password}); err != nil {
		return err
	}
	return n.st.addAccount(a)
}

// post sends what package client has no function for.
func (n *nation) post(ctx context.Context, path, credential string, fields map[string]any) error {
	body, err := json.Marshal(fields)
	if err != nil {
		return fmt.Errorf("nation: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, n.base()+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("nation: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	if credential != "" {
		req.Header.Set("Authorization", "Bearer "+credential)
	}
	res, err := plainHTTP.Do(req)
	if err != nil {
		return fmt.Errorf("nation: %w", err)
	}
	defer func() { _ = res.Body.Close() }() // the status is all that counts
	if res.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("nation: %s: %s", path, res.Status)
	}
	return nil
}

// login opens a session.
func (n *nation) login(ctx context.Context, email string) (client.Secret, error) {
	s, err := n.api.Login(ctx, client.LoginRequest{Email: email, Password: client.Secret(n.st.password(email))})
	if err != nil {
		return "", err
	}
	return s.Token, nil
}

// founders logs in the two first members of staff.
func (n *nation) founders(ctx context.Context) (first, second client.Secret, err error) {
	if first, err = n.login(ctx, firstFounder); err == nil {
		second, err = n.login(ctx, secondFounder)
	}
	return first, second, err
}

// token gets an access token of a client.
func (n *nation) token(ctx context.Context, name string) (client.Secret, error) {
	c := n.st.Clients[name]
	t, err := n.api.Token(ctx, client.Credentials{ID: c.ID, Secret: client.Secret(c.Secret)})
	if err != nil {
		return "", err
	}
	return t.AccessToken, nil
}
