package e2e_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/access"
	"github.com/lineproof/lineproof/internal/testing/process"
)

// operations are the requests of the mixed load.
var operations = []operation{
	{"verify", 45, (*loadCaller).verifyOne},
	{"verify a batch", 8, (*loadCaller).verifyBatch},
	{"report events", 8, (*loadCaller).reportEvents},
	{"onboard", 3, (*loadCaller).onboard},
	{"log in", 2, (*loadCaller).logIn},
	{"get a token", 3, (*loadCaller).getToken},
	{"upload a document", 2, (*loadCaller).upload},
	{"list documents", 2, (*loadCaller).documents},
	{"read the feed", 6, (*loadCaller).readFeed},
	{"change a watch-list", 4, (*loadCaller).changeList},
	{"read watch-lists", 2, (*loadCaller).readLists},
	{"verify a file", 1, (*loadCaller).verifyFile},
	{"read file jobs", 2, (*loadCaller).readJobs},
	{"read what was supplied", 2, (*loadCaller).readSupply},
	{"open a page", 10, (*loadCaller).openPage},
}

// newMixedLoad creates the credentials of the load. The pages are those that a crawl of the node
// finds.
func newMixedLoad(t *testing.T, w *fixture, address, node string, rate int) *mixedLoad {
	t.Helper()
	key := func(name string, rights ...string) string {
		return must(w.keeper.CreateKey(t.Context(), access.KeyForm{Entity: w.bank.ID, Name: name, Mode: access.Live, Purpose: "kyc", Rights: rights}, access.Operator, uuid.Nil))(t).Text.Reveal()
	}
	l := &mixedLoad{
		w: w, address: address, rate: rate, supplier: w.weak, bankKey: w.key.Text.Reveal(), watchKey: key("lists", "watch"), feedKey: key("feed", "feed"), jobKey: key("files", "jobs"),
	}
	// Another client than the telco's: one that serves several organisations has other pages.
	onboarder := must(w.keeper.CreateClient(t.Context(), access.ClientForm{Name: "Onboarder", Scopes: []string{"entity:onboard"}}, access.Operator, uuid.Nil))(t)
	l.onboarder = w.newToken(t, onboarder)
	c := &loadCaller{mixedLoad: l, wire: wire{address: address}}
	defer c.wire.close()
	l.list = textOf(must(c.post("/api/v1/watch-lists", l.watchKey, map[string]string{"name": "customers"}))(t), "listId")
	o := &portalData{fixture: w}
	for _, who := range []struct {
		name, kind, role string
		entity           uuid.UUID
	}{{"bank", "admin", "", w.bank.ID}, {"telco", "admin", "", w.telco.ID}, {"administrator", "staff", "administrator", uuid.Nil}} {
		v := &crawler{t: t, base: "http://" + node, session: o.signIn(t, who.name, who.kind, who.role, who.entity)}
		pages, files := v.explore("/portal/")
		for _, shape := range slices.Sorted(maps.Keys(pages)) {
			if !files[shape] {
				l.pages = append(l.pages, pageVisit{pages[shape], v.session})
			}
		}
	}
	if len(l.pages) < 20 {
		t.Fatalf("there are only %d pages", len(l.pages))
	}
	return l
}

func (c *loadCaller) knownNumber() (number int64, text string) {
	number = firstLine + c.rng.Int64N(knownLines)
	return number, "+" + strconv.FormatInt(number, 10)
}

func (c *loadCaller) verifyOne() error {
	number, text := c.knownNumber()
	body, err := c.post(verifyPath, c.bankKey, question{text})
	if err != nil {
		return err
	}
	var got struct{ Data answerFields }
	status, network, _ := c.w.expected(number)
	if err := json.Unmarshal(body, &got); err != nil || got.Data.Status != status || got.Data.MobileNetwork != network {
		return fmt.Errorf("answered with %s, %s instead of %s, %s (%w)", got.Data.Status, got.Data.MobileNetwork, status, network, err)
	}
	c.keep(&c.acks.answers, got.Data.RequestID)
	return nil
}

func (c *loadCaller) verifyBatch() error {
	numbers := make([]string, 10)
	for i := range numbers {
		_, numbers[i] = c.knownNumber()
	}
	body, err := c.post(verifyPath+"-batch", c.bankKey, map[string]any{"phoneNumbers": numbers})
	if err != nil {
		return err
	}
	var got struct {
		Data struct{ Results []answerFields }
	}
	if err := json.Unmarshal(body, &got); err != nil || len(got.Data.Results) != len(numbers) {
		return fmt.Errorf("a batch of %d has %d answers (%w): %.300s", len(numbers), len(got.Data.Results), err, body)
	}
	for _, a := range got.Data.Results {
		if a.RequestID == "" {
			return fmt.Errorf("a number of a batch has no answer: %.300s", body)
		}
		c.keep(&c.acks.answers, a.RequestID)
	}
	return nil
}

func (c *loadCaller) reportEvents() error {
	type event struct {
		ID          string `json:"id"`
		PhoneNumber string `json:"phoneNumber"`
		Type        string `json:"type"`
		EffectiveAt string `json:"effectiveAt"`
	}
	events := make([]event, 5)
	ids := make([]string, len(events))
	for i := range events {
		n := serial.Add(1)
		ids[i] = fmt.Sprint("upgrade-", n)
		events[i] = event{ids[i], "+" + strconv.FormatUint(firstLine+100_000+n%8_000_000, 10), "ASSIGNED", time.Now().UTC().Format(time.RFC3339)}
	}
	body, err := c.post("/api/v1/lines/events", c.supplier, map[string]any{"events": events})
	if err != nil {
		return err
	}
	var got struct {
		Data struct{ Applied int }
	}
	if err := json.Unmarshal(body, &got); err != nil || got.Data.Applied != len(events) {
		return fmt.Errorf("%d of %d events were applied: %.300s", got.Data.Applied, len(events), body)
	}
	c.keep(&c.acks.events, ids...)
	return nil
}

func (c *loadCaller) onboard() error {
	n := serial.Add(1)
	cac := fmt.Sprintf("RC %d", 1_000_000+n)
	_, err := c.post(onboardPath, c.onboarder, application{
		CAC: cac, Name: fmt.Sprintf("Telco %d", n), AdminName: "Bisi", AdminPhone: fmt.Sprintf("+%d", 234_703_000_0000+n), AdminEmail: fmt.Sprintf("admin.%d@telco.example", n),
		AdminPassword: fmt.Sprintf("dry-season-%d", n),
	}, "Idempotency-Key", cac)
	if err == nil {
		c.keep(&c.acks.entities, cac)
	}
	return err
}

func (c *loadCaller) logIn() error {
	_, err := c.post(loginPath, "", map[string]string{"email": adminEmail, "password": adminPassword})
	return err
}

func (c *loadCaller) getToken() error {
	_, err := c.post(tokenPath, "", map[string]string{"grant_type": "client_credentials", "client_id": c.w.client.ID.String(), "client_secret": c.w.client.Secret.Reveal()})
	return err
}

func (c *loadCaller) upload() error {
	name := fmt.Sprintf("tax-%d.pdf", serial.Add(1))
	r := request{boundary: "edge", parts: []part{
		{`Content-Disposition: form-data; name="type"`, []byte("TAX_ID")},
		{`Content-Disposition: form-data; name="file"; filename="` + name + `"`, []byte("%PDF-1.7\n" + name + "\n%%EOF\n")},
	}}
	_, err := c.call(http.MethodPost, post(uploadPath, "multipart/form-data; boundary=edge", r.content(), "Authorization", "Bearer "+c.w.session))
	if err == nil {
		c.keep(&c.acks.documents, name)
	}
	return err
}

func (c *loadCaller) documents() error {
	_, err := c.get("/api/regulator/v1/documents", c.w.session)
	return err
}

func (c *loadCaller) readFeed() error {
	_, err := c.get("/api/v1/feed?limit=10", c.feedKey)
	return err
}

func (c *loadCaller) changeList() error {
	_, one := c.knownNumber()
	_, other := c.knownNumber()
	change := map[string]any{"add": []string{one}}
	if one != other {
		change["remove"] = []string{other}
	}
	_, err := c.post("/api/v1/watch-lists/"+c.list+"/members", c.watchKey, change)
	return err
}

func (c *loadCaller) readLists() error {
	_, err := c.get("/api/v1/watch-lists", c.watchKey)
	return err
}

// maxOpenJobs is below what an organisation may have open.
const maxOpenJobs = 5

// verifyFile sends a file, unless enough of them are open.
func (c *loadCaller) verifyFile() error {
	c.mu.Lock()
	open := len(c.jobs)
	c.mu.Unlock()
	if open >= maxOpenJobs {
		return c.readJobs()
	}
	body, err := c.post("/api/v1/jobs", c.jobKey, map[string]string{"name": "customers"})
	if err != nil {
		return err
	}
	id := textOf(body, "jobId")
	var file bytes.Buffer
	file.WriteString("number,externalId\n")
	rows := make([]string, 50)
	for i := range rows {
		rows[i] = fmt.Sprint("row-", serial.Add(1))
		_, text := c.knownNumber()
		file.WriteString(text + "," + rows[i] + "\n")
	}
	raw := post("/api/v1/jobs/"+id+"/file", "text/csv", file.Bytes(), "Authorization", "Bearer "+c.jobKey)
	if _, err = c.call(http.MethodPut, append([]byte("PUT"), bytes.TrimPrefix(raw, []byte("POST"))...)); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.jobs = append(c.jobs, id)
	c.acks.rows = append(c.acks.rows, rows...)
	return nil
}

// readJobs looks at the oldest open job, and reads its result when it has one.
func (c *loadCaller) readJobs() error {
	c.mu.Lock()
	id := ""
	if len(c.jobs) > 0 {
		id, c.jobs = c.jobs[0], c.jobs[1:]
	}
	c.mu.Unlock()
	if id == "" {
		_, err := c.get("/api/v1/jobs", c.jobKey)
		return err
	}
	body, err := c.get("/api/v1/jobs/"+id, c.jobKey)
	switch state := textOf(body, "state"); {
	case err != nil:
		return err
	case state == "done" || state == "finished":
		result, err := c.get("/api/v1/jobs/"+id+"/result", c.jobKey)
		if n := bytes.Count(result, []byte("row-")); err == nil && n != 50 {
			return fmt.Errorf("the result of a file of 50 rows has %d", n)
		}
		return err
	case state == "refused" || state == "failed" || state == "cancelled":
		return fmt.Errorf("a file was not verified: %s", body)
	}
	c.keep(&c.jobs, id)
	return nil
}

// finishJobs waits until all files are verified.
func (l *mixedLoad) finishJobs(t *testing.T) {
	t.Helper()
	c := &loadCaller{mixedLoad: l, wire: wire{address: l.address}}
	defer c.wire.close()
	process.Until(t, "every file is verified", func() bool {
		if err := c.readJobs(); err != nil {
			t.Fatal(err)
		}
		return len(l.jobs) == 0
	})
}

func (c *loadCaller) readSupply() error {
	_, err1 := c.get("/api/v1/lines/supply", c.supplier)
	_, err2 := c.get("/api/v1/lines/imports", c.supplier)
	return errors.Join(err1, err2)
}

func (c *loadCaller) openPage() error {
	p := c.pages[c.rng.IntN(len(c.pages))]
	body, err := c.call(http.MethodGet, get(p.path, "Cookie", "__Host-lineproof="+p.session))
	if err != nil && strings.HasPrefix(err.Error(), "303:") { // it sends the browser on
		return nil
	}
	if err == nil && !bytes.Contains(body, []byte("</html>")) {
		err = errors.New("it is not a page")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.path, err)
	}
	return nil
}
