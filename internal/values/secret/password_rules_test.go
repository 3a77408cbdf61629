package secret_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// CheckPassword returns everything that is wrong with a password, and only
// that.
func TestCheckPassword(t *testing.T) {
	t.Parallel()

	own := []string{"Ada Obi", "Acme Telecom Ltd", "ada.obi", "mail", "acme-telecom", "com", "ng"}
	for name, tc := range map[string]struct {
		password string
		words    []string
		want     []string
	}{
		"a good one":                  {password: "correct horse"},
		"eight characters":            {password: "tq8.vz3k"},
		"only digits, not common":     {password: "83017265", words: own},
		"only punctuation":            {password: "!!..??##", words: own},
		"too short":                   {password: "tq8vz3k", want: []string{fault.TooShort}},
		"empty":                       {password: "", words: own, want: []string{fault.TooShort}},
		"eight characters, 16 bytes":  {password: "éèêëėęēě"},
		"seven characters, 14 bytes":  {password: "ééééééé", want: []string{fault.TooShort}},
		"as long as allowed":          {password: strings.Repeat("ẹx", 64)},
		"too long":                    {password: strings.Repeat("ẹx", 64) + "y", want: []string{fault.TooLong}},
		"common":                      {password: "qwertyuiop", want: []string{fault.TooCommon}},
		"common in another case":      {password: "QwertyUIOP", want: []string{fault.TooCommon}},
		"common and more":             {password: "qwertyuiop-harmattan"},
		"short and common":            {password: "letmein", want: []string{fault.TooShort, fault.TooCommon}},
		"own name":                    {password: "AdaObi2026!", words: own, want: []string{fault.OwnWords}},
		"own words in another order":  {password: "telecom_ACME_ada", words: own, want: []string{fault.OwnWords}},
		"own words repeated":          {password: "acme.acme.acme", words: own, want: []string{fault.OwnWords}},
		"e-mail address":              {password: "ada.obi@mail.acme-telecom.com.ng", words: own, want: []string{fault.OwnWords}},
		"own word cut by digits":      {password: "ac9me1234", words: own, want: []string{fault.OwnWords}},
		"own words and a stranger":    {password: "acme harmattan", words: own},
		"own word cut short":          {password: "acmeteleco", words: own},
		"a longer word is tried too":  {password: "mailmanxx", words: []string{"mail", "mailman", "xx"}, want: []string{fault.OwnWords}},
		"an initial is no word":       {password: "jjjjjjjjj", words: []string{"J. Doe"}},
		"initial and name joined":     {password: "jdoe-2026", words: []string{"J. Doe"}, want: []string{fault.OwnWords}},
		"a word of digits only":       {password: "24681357x", words: []string{"24681357", ""}},
		"a name with digits":          {password: "9mobile9mobile", words: []string{"9mobile"}, want: []string{fault.OwnWords}},
		"other scripts":               {password: "ИВАНОВ1234", words: []string{"Иванов"}, want: []string{fault.OwnWords}},
		"NUL":                         {password: "correct\x00horse", want: []string{fault.BadFormat}},
		"not UTF-8":                   {password: "correct\xffhorse", want: []string{fault.BadFormat}},
		"everything at once":          {password: "acme\x00", words: own, want: []string{fault.BadFormat, fault.TooShort, fault.OwnWords}},
		"common and made of own word": {password: "PASSWORD", words: []string{"Pass", "Word"}, want: []string{fault.TooCommon, fault.OwnWords}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var codes []string
			for _, v := range secret.CheckPassword(secret.Text(tc.password), 8, 128, tc.words...) {
				codes = append(codes, v.Code)
				if v.Field != "" || !strings.HasSuffix(v.Message, ".") || tc.password != "" && strings.Contains(v.Message, tc.password) {
					t.Errorf("violation = %+v", v)
				}
			}
			if diff := cmp.Diff(tc.want, codes); diff != "" {
				t.Errorf("codes (-want +got):\n%s", diff)
			}
		})
	}
}

// A text as long as a request allows, against words that fit in many ways, is
// checked in one pass.
func TestCheckPasswordOfAHugeText(t *testing.T) {
	t.Parallel()

	got := secret.CheckPassword(secret.Text(strings.Repeat("a", 16<<10)+"b"), 8, 128, "aa", "aaa", "aaaa", "aaaaaaaa")
	if len(got) != 1 || got[0].Code != fault.TooLong {
		t.Errorf("Judge = %+v", got)
	}
}
