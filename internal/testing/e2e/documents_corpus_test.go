package e2e_test

import (
	"bytes"
	"encoding/json"
	"image/jpeg"
	"io"
	"mime/multipart"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/platform/pageimage"
	"github.com/lineproof/lineproof/internal/testing/clamtest"
	files "github.com/lineproof/lineproof/internal/testing/corpus"
	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// Sent through the whole service, every file, hostile or honest, reaches people as pixels
// or not at all: the download of one that is clean is a PDF of pictures and has none of the
// bytes of the file. Every honest file is clean, except in the forms that the decoders of
// images do not read. Of the corpus every patch sends a part.
func TestDocumentsCorpus(t *testing.T) {
	share := size(t, "LINEPROOF_E2E_CORPUS", 5)
	w := newFixture(t, pgtest.URL(t))
	clam := clamtest.New(t)
	p := start(t, w, "LINEPROOF_CLAMD_ADDR="+clam.Address(), "LINEPROOF_UPLOAD_MAX_BYTES=67108864")
	d := &scanTest{fixture: w, address: p.public}

	hostile, honest := some(slices.Collect(files.Hostile()), share), some(slices.Collect(files.Honest()), share)
	names, bad := map[uuid.UUID]files.Sample{}, map[uuid.UUID]bool{}
	refused := 0
	began := time.Now()
	for _, s := range slices.Concat(hostile, honest) {
		isHostile := len(s.Codes) > 0
		id, status := d.upload(t, s.Data)
		switch {
		case status == http.StatusOK:
			names[id], bad[id] = s, isHostile
		case isHostile && status == http.StatusUnsupportedMediaType:
			refused++
		default:
			t.Errorf("%s (hostile: %t) is answered with %d", s.Name, isHostile, status)
		}
	}
	if len(hostile) == 0 || len(honest) == 0 || refused == len(hostile) {
		t.Fatalf("%d hostile files, of which %d were not taken in, and %d honest ones prove nothing", len(hostile), refused, len(honest))
	}
	d.settle(t)
	ends := map[bool]map[string]int{true: {}, false: {}}
	for id, states := range d.histories(t) {
		s, last := names[id], states[len(states)-1]
		ends[bad[id]][last]++
		if !bad[id] && last != "clean" && !files.Undrawn(s.Name) {
			t.Errorf("%s, which is honest, went %v: %s", s.Name, states, d.reason(t, id))
		}
		status, body := d.call(t, http.MethodGet, "/api/regulator/v1/documents/"+id.String()+"/content", "", http.NoBody)
		if (status == http.StatusOK) != (last == "clean") {
			t.Errorf("%s is %s, and its content is answered with %d", s.Name, last, status)
		}
		if status == http.StatusOK && !isPictures(body) {
			t.Errorf("%s reaches people as something else than pictures: %.200q", s.Name, body)
		}
	}
	t.Logf("%d hostile files, of which %d were not even taken in: %v; %d honest ones: %v; in %s",
		len(hostile), refused, ends[true], len(honest), ends[false], time.Since(began).Round(time.Second))
}

// isPictures reports whether a file is exactly what the service makes of its own pictures:
// taken apart and put together again, it is the same.
func isPictures(pdf []byte) bool {
	var again bytes.Buffer
	book := pageimage.NewBook(&again)
	const begin = "/Filter/DCTDecode/Length "
	for rest := pdf; ; {
		_, from, found := bytes.Cut(rest, []byte(begin))
		if !found {
			break
		}
		number, from, _ := bytes.Cut(from, []byte(">>stream\n"))
		n, err := strconv.Atoi(string(number))
		if err != nil || n > len(from) {
			return false
		}
		picture := from[:n]
		if _, err := jpeg.Decode(bytes.NewReader(picture)); err != nil || book.Add(picture) != nil {
			return false
		}
		rest = from[n:]
	}
	return book.Close() == nil && bytes.Equal(again.Bytes(), pdf)
}

// settle waits until every document is settled, for as long as it goes on.
func (d *scanTest) settle(t *testing.T) {
	t.Helper()
	const patience = 90 * time.Second
	left, since := len(d.unsettled(t)), time.Now()
	for left > 0 {
		<-time.After(100 * time.Millisecond)
		if now := len(d.unsettled(t)); now < left {
			left, since = now, time.Now()
		}
		if time.Since(since) > patience {
			t.Fatalf("nothing was settled for %s; %d documents are left:\n%s", patience, left, d.stuck(t))
		}
	}
}

// stuck says what keeps the documents that are not settled.
func (d *scanTest) stuck(t *testing.T) (why string) {
	t.Helper()
	err := d.pool.QueryRow(t.Context(), `SELECT coalesce(string_agg(format('%s %s %s, attempt %s, at %s: %s', d.id, d.state, j.state, j.attempt, j.scheduled_at, j.errors[cardinality(j.errors)]->>'error'), E'\n'), '')
		FROM document d LEFT JOIN river_job j ON j.kind = 'scan_document' AND j.args->>'document' = d.id::text WHERE d.state IN ('received', 'scanning')`).Scan(&why)
	if err != nil {
		t.Fatal(err)
	}
	return why
}

// some returns a share of a list, spread over it.
func some[T any](list []T, percent int) (part []T) {
	for i, v := range list {
		if (i+1)*percent/100 > i*percent/100 {
			part = append(part, v)
		}
	}
	return part
}

// reason returns why a document is in its state.
func (d *scanTest) reason(t *testing.T, id uuid.UUID) (code string) {
	t.Helper()
	if err := d.pool.QueryRow(t.Context(), `SELECT reason FROM document WHERE id = $1`, id).Scan(&code); err != nil {
		t.Fatal(err)
	}
	return code
}

// mustUpload hands a document in that must be taken.
func (d *scanTest) mustUpload(t *testing.T, content []byte) uuid.UUID {
	t.Helper()
	id, status := d.upload(t, content)
	if status != http.StatusOK {
		t.Fatalf("an upload is answered with %d", status)
	}
	return id
}

// upload hands a document in and returns its id, if it was taken.
func (d *scanTest) upload(t *testing.T, content []byte) (id uuid.UUID, status int) {
	t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	file := must(form.CreateFormFile("file", "paper"))(t)
	if _, err := file.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := form.WriteField("type", "OTHER"); err != nil {
		t.Fatal(err)
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	status, body := d.call(t, http.MethodPost, uploadPath, form.FormDataContentType(), &b)
	if status != http.StatusOK {
		return uuid.Nil, status
	}
	var got struct{ Data uuid.UUID }
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	d.handed++
	return got.Data, status
}

// content asks for the file of a document and returns the status of the answer.
func (d *scanTest) content(t *testing.T, id uuid.UUID) (status int) {
	t.Helper()
	status, _ = d.call(t, http.MethodGet, "/api/regulator/v1/documents/"+id.String()+"/content", "", http.NoBody)
	return status
}

// call asks as the admin of the telco.
func (d *scanTest) call(t *testing.T, method, path, kind string, body io.Reader) (status int, content []byte) {
	t.Helper()
	r := must(http.NewRequestWithContext(t.Context(), method, "http://"+d.address+path, body))(t)
	r.Header.Set("Authorization", "Bearer "+d.session)
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.StatusCode, must(io.ReadAll(answer.Body))(t)
}
