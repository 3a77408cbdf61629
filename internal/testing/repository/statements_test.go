package repository_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// Every statement in the Go code whose text is fixed is one that PostgreSQL accepts on the
// migrated schema: a column that was renamed is found before anything runs.
func TestEveryStatementCanBePrepared(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("needs PostgreSQL; not run with -short")
	}
	conn, err := pgtest.New(t).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	fixed, open := fixedStatements(t, sources(t))
	for _, s := range fixed {
		if _, err := conn.Conn().Prepare(t.Context(), "", s.text); err != nil {
			t.Errorf("%s: %v\n%s", s.name, err, s.text)
		}
	}
	t.Logf("%d statements are prepared; %d are put together when they run", len(fixed), open)
	if len(fixed) < 500 || open > 60 {
		t.Errorf("%d statements are prepared, %d are not", len(fixed), open)
	}
}

// A statement that names a column which does not exist is found, also where the text is made
// of constants.
func TestAStatementIsPutTogether(t *testing.T) {
	t.Parallel()

	code := "package x\nconst columns = `a, ` + b\nconst b = `b`\nfunc f() { db.QueryRow(ctx, `SELECT `+columns+` FROM t`); db.Exec(ctx, `SELECT `+argument) }"
	fixed, open := fixedStatements(t, []source{{"internal/x/x.go", []byte(code)}})
	if len(fixed) != 1 || fixed[0].text != "SELECT a, b FROM t" || open != 1 {
		t.Errorf("got %v and %d", fixed, open)
	}
}

var (
	runsSQL   = regexp.MustCompile(`^(Exec|Query|QueryRow|Queue|Collect|CollectOne|CollectMap|ForEach)$`)
	preparing = regexp.MustCompile(`^\s*(?i:select|insert|update|delete|with|merge)\b`)
)

// fixedStatements returns the statements that are made of constants of their package, and how
// many others there are.
func fixedStatements(t *testing.T, files []source) (fixed []statement, open int) {
	t.Helper()
	parsed, constants := parseAll(t, files)
	for path, file := range parsed {
		known := constants[filepath.Dir(path)]
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if sel, ok := call.Fun.(*ast.SelectorExpr); !ok || !runsSQL.MatchString(sel.Sel.Name) {
				return true
			}
			for _, arg := range call.Args {
				text, whole := foldText(arg, known)
				switch {
				case !preparing.MatchString(text):
				case whole:
					fixed = append(fixed, statement{name: path, text: text})
				default:
					open++
				}
			}
			return true
		})
	}
	return fixed, open
}

// parseAll returns the Go files by their paths, and the constants of each folder.
func parseAll(t *testing.T, files []source) (parsed map[string]*ast.File, constants map[string]map[string]ast.Expr) {
	t.Helper()
	parsed, constants = map[string]*ast.File{}, map[string]map[string]ast.Expr{}
	for _, f := range files {
		if !strings.HasSuffix(f.path, ".go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), f.path, f.text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed[f.path] = file
		dir := filepath.Dir(f.path)
		if constants[dir] == nil {
			constants[dir] = map[string]ast.Expr{}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if d, ok := n.(*ast.GenDecl); ok && d.Tok == token.CONST {
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok && len(v.Values) == len(v.Names) {
						for i, name := range v.Names {
							constants[dir][name.Name] = v.Values[i]
						}
					}
				}
			}
			return true
		})
	}
	return parsed, constants
}

// foldText returns the text of an expression of literals and constants, as far as it is known.
func foldText(e ast.Expr, known map[string]ast.Expr) (text string, whole bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.Ident:
		if value, ok := known[e.Name]; ok {
			return foldText(value, known)
		}
	case *ast.ParenExpr:
		return foldText(e.X, known)
	case *ast.BinaryExpr:
		left, ok := foldText(e.X, known)
		if !ok {
			return left, false
		}
		right, ok := foldText(e.Y, known)
		return left + right, ok && e.Op == token.ADD
	}
	return "", false
}
