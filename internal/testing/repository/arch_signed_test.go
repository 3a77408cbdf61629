package repository_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/platform/pg"
)

// uncheckedReads are the statements that read a signed table without checking the HMAC of
// the row, by what makes that harmless. A statement is named by its package and the function
// that has it, or the constant or variable. Whoever adds one says here what a forged row could do.
var uncheckedReads = map[string]string{
	"shows rows to people, who could not find a forged one if it was left out": `
		access.Service.clients access.secretsOf access.Service.Sessions access.Service.Keys access.Service.Key access.keyNames access.Service.keyOrder access.Service.CountActiveKeys access.Service.Mandates
		access.Service.KeyPage regulator/registry.Registry.Accounts regulator/registry.Registry.Entities regulator/registry.Registry.Names regulator/registry.Registry.SameCAC regulator/registry.Registry.WithCAC regulator/registry.Registry.query regulator/registry.Registry.addCursor
		regulator/registry.Registry.Invited regulator/registry.Registry.FindPeople regulator/document.find regulator/document.Store.List regulator/document.Filter.order access/guard.Find answer/impact.Notices.Counts
		access.ClientName`,
	"only says that something is taken, or counts what is there; whoever hides a row so makes that row useless": `
		access.Service.RollKey regulator/registry.hasCAC regulator/registry.countOnboarded regulator/registry.Registry.Found regulator/registry.Registry.Empty
		access/people.People.changeRequest regulator/registry.beforeStaff regulator/registry.checkOtherAdmins regulator/registry.LimitService.Set`,
	"locks a row for a change, which leaves it unsigned if it was; what it may change to was checked elsewhere": `
		regulator/registry.lockEntity regulator/registry.roleOf regulator/registry.Registry.takeAddress regulator/registry.Registry.Invite access/people.People.ChangePassword access.Service.FindKey`,
	"finds recipients, whose rows are checked when the e-mail is sent": `
		access/people.People.NotifyAdmins access/people.People.NotifySponsored access/people.People.NotifyNetwork access/people.People.NotifyStaff access/people.takeFailuresSQL access.takeExpiringSQL`,
	"concerns an organisation or a person whose keys, sessions and logins are refused while the row is forged": `
		access/guard.readState access/guard.warmUp.read regulator/document.Store.requirements regulator/document.Store.deleteExpired access/people.People.knownDevice`,
	"chooses between two e-mails, both to the owner of the address":                                          `regulator/registry.Registry.AddressConfirmed`,
	"pauses an endpoint; whoever hides that could as well change which key created it, which no HMAC covers": `notify/webhook.keyRevoked`,
	"deletes what has expired": `access.Service.DeleteExpired access/people.People.DeleteExpired`,
	"shares the look-ups of a day; whoever forges that people are independent has the budget of each, and doctor reports the rows": `regulator/registry.sameStaffSQL`,
	"reads records that only make people dependent; those that make them independent are checked before, and are named":            `regulator/registry.sameOriginSQL regulator/registry.checkDependent`,
}

// statement is one statement of SQL, and the Go code that runs it.
type statement struct {
	name, text string
	code       *functions // of its package
}

func statements(t *testing.T, files []source, excused map[string]bool) (all []statement) {
	t.Helper()
	parsed, constants := parseAll(t, files)
	packages := map[string]*functions{}
	for _, f := range files {
		if file := parsed[f.path]; file != nil {
			pkg := packageOf(f.path)
			if packages[pkg] == nil {
				packages[pkg] = &functions{}
			}
			packages[pkg].add(f, file)
		}
	}
	for _, f := range files {
		pkg, file := packageOf(f.path), parsed[f.path]
		if file == nil {
			continue
		}
		known := maps.Clone(constants[filepath.Dir(f.path)])
		maps.DeleteFunc(known, func(name string, _ ast.Expr) bool { return excused[pkg+"."+name] })
		for _, d := range file.Decls {
			name := ""
			switch d := d.(type) {
			case *ast.FuncDecl:
				name = receiver(d) + d.Name.Name
			case *ast.GenDecl:
				if v, ok := d.Specs[0].(*ast.ValueSpec); ok && (d.Tok == token.VAR || excused[pkg+"."+v.Names[0].Name]) {
					name = v.Names[0].Name
				}
			}
			if name != "" {
				for _, text := range textsIn(d, known) {
					all = append(all, statement{pkg + "." + name, text, packages[pkg]})
				}
			}
		}
	}
	return all
}

// receiver returns the type of a method, and a point.
func receiver(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return ""
	}
	of := fn.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	if named, ok := of.(*ast.Ident); ok {
		return named.Name + "."
	}
	return ""
}

// functions are those of a package.
type functions []function

type function struct{ name, body string }

func (all *functions) add(f source, file *ast.File) {
	for _, d := range file.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			*all = append(*all, function{fn.Name.Name, string(f.text[fn.Pos()-file.FileStart : fn.End()-file.FileStart])})
		}
	}
}

// around returns the function of a name, or those that use the constant of that name, and what
// they call.
func (all *functions) around(name string) string {
	uses := regexp.MustCompile(`\b` + name + `\b`)
	isFunction := slices.ContainsFunc(*all, func(fn function) bool { return fn.name == name })
	var using, called strings.Builder
	for _, fn := range *all {
		if fn.name == name || !isFunction && uses.MatchString(fn.body) {
			using.WriteString(fn.body)
		}
	}
	for _, fn := range *all {
		if regexp.MustCompile(`\b` + fn.name + `\(`).MatchString(using.String()) {
			called.WriteString(fn.body)
		}
	}
	return using.String() + called.String()
}

// textsIn returns the texts in a declaration, each with the constants that it is made of.
func textsIn(d ast.Decl, known map[string]ast.Expr) (all []string) {
	ast.Inspect(d, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		text := partsOf(e, known)
		if text != "" {
			all = append(all, text)
		}
		return text == "" // what is in it, is in the text
	})
	return all
}

// partsOf returns the text of an expression, with a gap for what is known only when it runs.
func partsOf(e ast.Expr, known map[string]ast.Expr) string {
	if sum, ok := e.(*ast.BinaryExpr); ok && sum.Op == token.ADD {
		return partsOf(sum.X, known) + " " + partsOf(sum.Y, known)
	}
	text, _ := foldText(e, known)
	return text
}

// Whoever steals the database login of the service can write any column. So a statement
// that reads a row that decides access also reads its sum and its HMAC, and the code that
// runs it checks them; only the statements of a list with reasons do not.
func TestPackagesCheckTheSignedRowsThatTheyRead(t *testing.T) {
	t.Parallel()

	report(t, badSignedReads(t, sources(t), uncheckedReads))
}

func badSignedReads(t *testing.T, files []source, allowed map[string]string) (violations []string) {
	t.Helper()
	unused := map[string]bool{}
	for _, names := range allowed {
		for name := range strings.FieldsSeq(names) {
			unused[name] = true
		}
	}
	excused := maps.Clone(unused)
	for _, s := range statements(t, files, excused) {
		aliases := signedAliases(s.text)
		switch {
		case len(aliases) == 0:
		case excused[s.name]:
			delete(unused, s.name)
		default:
			for _, alias := range aliases {
				if !regexp.MustCompile(`\b`+alias+`\.row_sum\b`).MatchString(s.text) && (len(aliases) > 1 || !regexp.MustCompile(`(^|[^.])\brow_sum\b`).MatchString(s.text)) {
					violations = append(violations, fmt.Sprintf("%s reads the signed table %s without its row_sum and row_mac", s.name, alias))
				}
			}
			if !strings.Contains(s.code.around(s.name[strings.LastIndexByte(s.name, '.')+1:]), "igned(") {
				violations = append(violations, s.name+" reads a signed table, and what runs it calls neither pg.Signed nor pg.RowsSigned")
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(unused)) {
		violations = append(violations, "uncheckedReads names "+name+", which reads no signed table")
	}
	return violations
}

// An excuse holds for the function that it names, and for no other of its file; one for a
// constant holds wherever the constant is named.
func TestOneFunctionIsExcused(t *testing.T) {
	t.Parallel()

	code := "package x\nconst shown = `(SELECT name FROM client c)`\nfunc one() { db.Query(ctx, `SELECT id FROM api_key`) }\nfunc two() { db.Query(ctx, `SELECT id FROM api_key`) }\n" +
		"func three() { db.Query(ctx, `SELECT `+shown) }\nfunc four() { db.Query(ctx, `SELECT `+columns+` FROM entity`); pg.Signed(ctx) }\nconst columns = `id, row_sum, row_mac`\n"
	found := badSignedReads(t, []source{{"internal/x/x.go", []byte(code)}}, map[string]string{"a test": "x.one x.shown"})
	if len(found) != 2 || !strings.HasPrefix(found[0], "x.two reads") || !strings.HasPrefix(found[1], "x.two reads") {
		t.Errorf("found %q", found)
	}
}

// counted matches a number that a statement shows beside a row.
var counted = regexp.MustCompile(`\(SELECT count\(\*\) FROM [^()]*\)`)

// signedAliases returns the names under which a statement reads signed tables. What it
// deletes or changes, it does not read; a change leaves a row that was not signed unsigned.
func signedAliases(sql string) (aliases []string) {
	sql = counted.ReplaceAllString(strings.ReplaceAll(sql, "DELETE FROM", "DELETE"), "")
	for _, m := range reads.FindAllStringSubmatch(sql, -1) {
		for item := range strings.SplitSeq(m[1], ",") {
			words := strings.Fields(strings.ReplaceAll(item, " AS ", " "))
			if len(words) == 0 || !slices.Contains(pg.SignedTables, words[0]) {
				continue
			}
			if alias := words[len(words)-1]; !slices.Contains(aliases, alias) {
				aliases = append(aliases, alias)
			}
		}
	}
	return aliases
}
