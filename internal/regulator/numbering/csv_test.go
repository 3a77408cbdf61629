package numbering_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/regulator/numbering"
	"github.com/lineproof/lineproof/internal/values/fault"
)

const header = "prefix,network,name,allocated,withdrawn\n"

// violations reads a file and returns its mistakes, each as "field: code".
func violations(t *testing.T, file string) []string {
	t.Helper()
	rows, err := numbering.ReadCSV(strings.NewReader(file))
	if err == nil {
		return nil
	}
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Code != fault.InvalidArgument || rows != nil {
		t.Fatalf("%d rows and %v", len(rows), err)
	}
	var list []string
	for _, v := range f.Violations {
		if !strings.HasSuffix(v.Message, ".") && !strings.HasSuffix(v.Message, ")") {
			t.Errorf("%s: %q is not a sentence", v.Field, v.Message)
		}
		list = append(list, v.Field+": "+v.Code)
	}
	return list
}

// Every mistake in a file is listed with its line and column.
func TestMistakesInAFileAreListed(t *testing.T) {
	t.Parallel()
	const good = "234803,MTN,MTN,2001-08-01,\n"
	for name, tc := range map[string]struct {
		file string
		want []string
	}{
		"nothing":            {"", []string{"line 1: INVALID_FORMAT"}},
		"no header":          {good, []string{"line 1: INVALID_FORMAT"}},
		"header in capitals": {strings.ToUpper(header) + good, []string{"line 1: INVALID_FORMAT"}},
		"UTF-16":             {"\xff\xfep\x00r\x00e\x00f\x00i\x00x\x00", []string{"line 1: INVALID_FORMAT"}},
		"no rows":            {header, []string{"plan: REQUIRED"}},
		"plus sign":          {header + "+234803,MTN,MTN,2001-08-01,\n", []string{"line 2, prefix: INVALID_FORMAT"}},
		"national form":      {header + "0803,MTN,MTN,2001-08-01,\n", []string{"line 2, prefix: INVALID_FORMAT"}},
		"no prefix":          {header + ",MTN,MTN,2001-08-01,\n", []string{"line 2, prefix: INVALID_FORMAT"}},
		"16 digits":          {header + "1234567890123456,MTN,MTN,2001-08-01,\n", []string{"line 2, prefix: INVALID_FORMAT"}},
		"code in lower case": {header + "234803,mtn,MTN,2001-08-01,\n", []string{"line 2, network: INVALID_FORMAT"}},
		"reserved words":     {header + "234803,UNKNOWN,Unknown,2001-08-01,\n", []string{"line 2, network: INVALID_FORMAT", "line 2, name: INVALID_FORMAT"}},
		"formula as a name":  {header + "234803,MTN,=1+1,2001-08-01,\n", []string{"line 2, name: INVALID_FORMAT"}},
		"name not in UTF-8":  {header + "234803,MTN,M\xfcN,2001-08-01,\n", []string{"line 2, name: INVALID_FORMAT"}},
		"NUL in a name":      {header + "234803,MTN,M\x00N,2001-08-01,\n", []string{"line 2, name: INVALID_FORMAT"}},
		"name too long":      {header + "234803,MTN," + strings.Repeat("x", 65) + ",2001-08-01,\n", []string{"line 2, name: INVALID_FORMAT"}},
		"date of a season":   {header + "234803,MTN,MTN,01/08/2001,\n", []string{"line 2, allocated: INVALID_FORMAT"}},
		"no such day":        {header + "234803,MTN,MTN,2001-02-29,\n", []string{"line 2, allocated: INVALID_FORMAT"}},
		"the year 1":         {header + "234803,MTN,MTN,0001-01-01,0001-01-01\n", []string{"line 2, allocated: INVALID_FORMAT", "line 2, withdrawn: INVALID_FORMAT"}},
		"withdrawn first":    {header + "234803,MTN,MTN,2001-08-01,2001-08-01\n", []string{"line 2, withdrawn: NOT_ALLOWED"}},
		"too few columns":    {header + "234803,MTN,MTN,2001-08-01\n" + good, []string{"line 2: INVALID_FORMAT"}},
		"stray quote":        {header + "234803,M\"TN,MTN,2001-08-01,\n" + good, []string{"line 2: INVALID_FORMAT"}},
		"quote without end":  {header + good + "\"234806,MTN,MTN,2001-08-01,\n" + good, []string{"line 3: INVALID_FORMAT"}},
		"two names":          {header + good + "234806,MTN,Mtn,2001-08-01,\n", []string{"line 3, name: NOT_ALLOWED"}},
		"one name for two":   {header + good + "\n234805,GLO,mtn,2001-08-01,\n", []string{"line 4, name: ALREADY_EXISTS"}},
		"twice":              {header + good + good, []string{"line 3, prefix: ALREADY_EXISTS"}},
		"inside a longer time": {
			header + "234803,MTN,MTN,2001-08-01,2020-01-01\n234803,MTN,MTN,2002-01-01,2003-01-01\n234803,GLO,Glo,2010-01-01,\n",
			[]string{"line 3, prefix: ALREADY_EXISTS", "line 4, prefix: ALREADY_EXISTS"},
		},
		"all at once": {
			header + "x,y,,z,w\n234803,MTN\n",
			[]string{
				"line 3: INVALID_FORMAT", "line 2, prefix: INVALID_FORMAT", "line 2, network: INVALID_FORMAT", "line 2, name: INVALID_FORMAT",
				"line 2, allocated: INVALID_FORMAT", "line 2, withdrawn: INVALID_FORMAT",
			},
		},
		"fine, with BOM, CRLF and spaces": {"\ufeff" + strings.ReplaceAll(header+"234803 , MTN,MTN, 2001-08-01,\n", "\n", "\r\n"), nil},
		"fine, without the last newline":  {header + strings.TrimSpace(good), nil},
		"fine, one after the other":       {header + "234803,MTN,MTN,2002-08-01,\n234803,GLO,Glo,2001-08-01,2002-08-01\n2348031,GLO,Glo,2001-08-01,\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, violations(t, tc.file)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Of very many mistakes only maxViolations are listed, and the rest are counted.
func TestListOfMistakesIsLimited(t *testing.T) {
	t.Parallel()
	var file strings.Builder
	file.WriteString(header)
	for i := range 5000 {
		fmt.Fprintf(&file, "x%d,MTN,MTN,2001-08-01,\n", i)
	}
	got := violations(t, file.String())
	if len(got) != 101 || got[100] != "plan: TOO_LONG" {
		t.Errorf("%d violations, the last is %s", len(got), got[len(got)-1])
	}
}

// endless is a file without an end.
type endless struct{ text string }

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.text[i%len(e.text)]
	}
	return len(p), nil
}

// A file that is too large is refused, whatever its content.
func TestFileSizeIsLimited(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]io.Reader{
		"rows":     io.MultiReader(strings.NewReader(header), endless{"234803,MTN,MTN,2001-08-01,\n"}),
		"one line": io.MultiReader(strings.NewReader(header), endless{"2"}),
		"a quote":  io.MultiReader(strings.NewReader(header+`"`), endless{"2\n"}),
		"newlines": io.MultiReader(strings.NewReader(header), endless{"\n"}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := numbering.ReadCSV(file); fault.CodeOf(err) != fault.PayloadTooLarge {
				t.Errorf("ReadCSV: %.200v", err)
			}
		})
	}
}

// A failure to read the file is not reported as a mistake in the file.
func TestReadFailureIsNotAMistakeInTheFile(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, prefix := range []string{"", "pre", header, header + "234803,"} {
		_, err := numbering.ReadCSV(io.MultiReader(strings.NewReader(prefix), iotest.ErrReader(broken)))
		if !errors.Is(err, broken) {
			t.Errorf("after %q: %v", prefix, err)
		}
	}
}

// Every file either is refused with a message, or gives a plan that is the same
// after it is written and read again.
func FuzzReadCSV(f *testing.F) {
	f.Add(header + "234803,MTN,MTN,2001-08-01,\n")
	f.Add(header + "234803,MTN,\"M, \"\"T\"\" N\",2001-08-01,2020-02-29\r\n2348031,GLO,Glo,2001-08-01,\n")
	f.Add("\ufeff" + header + "\"\n")
	f.Add(header + "1,A,é,2999-12-31,\n9,B, b ,1900-01-01,1900-01-02")
	f.Fuzz(func(t *testing.T, file string) {
		rows, err := numbering.ReadCSV(strings.NewReader(file))
		if err != nil {
			if e, ok := errors.AsType[*fault.Error](err); !ok || len(e.Violations) == 0 || len(e.Violations) > 101 || rows != nil {
				t.Fatalf("%d rows, %v", len(rows), err)
			}
			return
		}
		plan, err := numbering.New(rows, 15)
		if err != nil {
			t.Fatalf("ReadCSV accepted what New refuses: %v", err)
		}
		var written strings.Builder
		if err := plan.WriteCSV(&written); err != nil {
			t.Fatal(err)
		}
		again, err := numbering.ReadCSV(strings.NewReader(written.String()))
		if err != nil {
			t.Fatalf("%v:\n%s", err, written.String())
		}
		byPlace := func(a, b numbering.Row) int {
			return strings.Compare(a.Prefix+" "+a.Allocated.String(), b.Prefix+" "+b.Allocated.String())
		}
		slices.SortFunc(rows, byPlace)
		slices.SortFunc(again, byPlace)
		if diff := cmp.Diff(rows, again); diff != "" {
			t.Fatal(diff)
		}
	})
}
