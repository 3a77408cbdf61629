// Package keytest searches what the service stores, sends to its database and answers for
// keys that are derived from its peppers. A caller chooses much of what is signed, and must
// never be able to choose it so that the sum is a key.
package keytest

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// part is how much of a key is searched for: more than what a sum is ever cut to on purpose.
const part = 16

// Labels returns the texts from which package secret derives keys, as its source has them.
func Labels(t testing.TB) (labels []string) {
	t.Helper()
	dir, err := os.Getwd() // of the package under test
	for err == nil && filepath.Base(dir) != "internal" && dir != "/" {
		dir = filepath.Dir(dir)
	}
	source, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, "values/secret/purpose.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(source, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			text, _ := strconv.Unquote(l.Value)
			labels = append(labels, text)
		}
		return true
	})
	if len(labels) < 10 {
		t.Fatalf("found only the labels %q", labels)
	}
	return labels
}

// Some returns two of the labels, other ones for every n, so that all occur in the requests of
// a service without each being sent in every field.
func Some(labels []string, n int) []string {
	return []string{labels[n%len(labels)], labels[(n+len(labels)/2)%len(labels)]}
}

// Search knows the keys. Its methods may be called at the same time.
type Search struct {
	forms map[string]string // what a key is, by one of its written forms

	mu    sync.Mutex
	found []string
	bytes int
}

// New returns a search for the keys of peppers.
func New(t testing.TB, peppers ...secret.Text) *Search {
	t.Helper()
	s := &Search{forms: make(map[string]string)}
	for _, pepper := range peppers {
		text := []byte(pepper.Reveal())
		s.add("the pepper", text)
		extracted, err := hkdf.Extract(sha256.New, text, nil)
		if err != nil {
			t.Fatal(err)
		}
		s.add("what HKDF extracts", extracted)
		for _, label := range Labels(t) {
			derived, err := hkdf.Key(sha256.New, text, nil, label, sha256.Size)
			if err != nil {
				t.Fatal(err)
			}
			mac := hmac.New(sha256.New, text)
			mac.Write([]byte(label))
			s.add("the sum of "+label, mac.Sum(nil))
			if !strings.Contains(label, "version") { // the version of a pepper is stored, and no key
				s.add("the key of "+label, derived)
			}
		}
	}
	return s
}

func (s *Search) add(what string, key []byte) {
	key = key[:part]
	s.forms[string(key)] = what
	s.forms[hex.EncodeToString(key)] = what
	s.forms[base64.StdEncoding.EncodeToString(key[:part-1])] = what // no padding, and nothing of the next bytes
	s.forms[base64.URLEncoding.EncodeToString(key[:part-1])] = what
}

// Look searches some bytes.
func (s *Search) Look(where string, text []byte) {
	for form, what := range s.forms {
		if bytes.Contains(text, []byte(form)) {
			s.mu.Lock()
			s.found = append(s.found, where+" has "+what)
			s.mu.Unlock()
		}
	}
	s.mu.Lock()
	s.bytes += len(text)
	s.mu.Unlock()
}

// Watch searches the arguments of every statement that a pool sends from now on.
func (s *Search) Watch(pool *pgxpool.Pool) {
	pgtest.Watch(pool, func(args []any) {
		for _, arg := range args {
			s.value(reflect.ValueOf(arg))
		}
	})
}

// value searches an argument: all bytes and texts in it.
func (s *Search) value(v reflect.Value) {
	switch v.Kind() { //nolint:exhaustive // the others hold no text
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			s.value(v.Elem())
		}
	case reflect.String:
		s.Look("a statement", []byte(v.String()))
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
			s.Look("a statement", v.Bytes())
			return
		}
		for i := range v.Len() {
			s.value(v.Index(i))
		}
	}
}

// Tables searches every row of a database.
func (s *Search) Tables(t testing.TB, pool *pgxpool.Pool) {
	t.Helper()
	rows, err := pool.Query(t.Context(), `SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`)
	if err != nil {
		t.Fatal(err)
	}
	var tables []string
	for rows.Next() {
		var table string
		if err := rows.Scan(&table); err != nil {
			t.Fatal(err)
		}
		tables = append(tables, table)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		rows, err := pool.Query(t.Context(), fmt.Sprintf(`SELECT coalesce(x::text, '') FROM %s x`, table))
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			s.Look("table "+table, rows.RawValues()[0])
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// Report fails the test for every key that was found, and if less was searched than a test
// of the whole service sends.
func (s *Search) Report(t testing.TB, atLeast int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.found)
	for _, f := range slices.Compact(s.found) {
		t.Error(f)
	}
	if s.bytes < atLeast {
		t.Errorf("only %d bytes were searched", s.bytes)
	}
	t.Logf("%d bytes were searched for %d forms of keys", s.bytes, len(s.forms))
}
