package registry

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/lineproof/lineproof/internal/values/fault"
	"github.com/lineproof/lineproof/internal/values/phone"
	"github.com/lineproof/lineproof/internal/values/secret"
)

const (
	maxName     = 200
	maxPassword = 128
)

// ApplicationForm is the input of an application, unchecked.
type ApplicationForm struct {
	Name, CAC                         string
	DocumentRequired                  bool
	AdminName, AdminEmail, AdminPhone string
	AdminPassword                     secret.Text
}

// Application is a checked application with its password hashed. Only
// [Registry.Prepare] creates one.
type Application struct {
	form         ApplicationForm
	cac          CACNumber
	emailKey     string
	phone        phone.Number
	admin        uuid.UUID // the id that the admin's account gets; the hash is bound to it
	passwordHash string
}

// Contact returns what may have an account already: the admin's e-mail address and phone
// number, each in one spelling.
func (a Application) Contact() (email, phone string) { return a.emailKey, a.phone.E164() }

// Check returns every violation of the form at once.
func (r *Registry) Check(f ApplicationForm) error {
	_, err := r.parse(f)
	return err
}

// Prepare checks the form and hashes the password. The hash is slow by design, so
// Prepare must not be called inside a transaction.
func (r *Registry) Prepare(ctx context.Context, f ApplicationForm) (Application, error) {
	a, err := r.parse(f)
	if err != nil {
		return Application{}, err
	}
	if a.passwordHash, err = r.Passwords.Hash(ctx, a.admin, f.AdminPassword); err != nil {
		return Application{}, err
	}
	a.form.AdminPassword = ""
	return a, nil
}

func (r *Registry) parse(f ApplicationForm) (Application, error) {
	var wrong fault.Form
	checkName(&wrong, "name", f.Name)
	number, ok := ParseCAC(f.CAC)
	wrong.Check(f.CAC != "", "cac", fault.Required, noCAC)
	wrong.Check(ok || f.CAC == "", "cac", fault.BadFormat, cacForm)
	checkName(&wrong, "adminName", f.AdminName)
	emailKey := checkEmail(&wrong, "adminEmail", f.AdminEmail)
	digits, err := r.Region.Parse(f.AdminPhone)
	wrong.Check(f.AdminPhone != "", "adminPhone", fault.Required, "Give the admin's phone number.")
	wrong.Check(err == nil || f.AdminPhone == "", "adminPhone", fault.BadFormat,
		"Write a phone number, preferably in international format with + and the country code.")
	checkPassword(&wrong, "adminPassword", f.AdminPassword, r.PasswordMin, f.AdminName, f.AdminEmail, f.Name)
	return Application{form: f, cac: number, emailKey: emailKey, phone: digits, admin: uuid.Must(uuid.NewV7())}, wrong.Err()
}

const (
	noCAC   = "Give the number from the companies register."
	cacForm = "Use letters, digits, spaces, / and -, at most 32 characters, beginning with a letter or digit."
)

func checkName(wrong *fault.Form, field, name string) {
	wrong.Check(strings.TrimSpace(name) != "", field, fault.Required, "Give a name.")
	wrong.Check(utf8.RuneCountInString(name) <= maxName, field, fault.TooLong, "Use at most 200 characters.")
	wrong.Check(!strings.ContainsFunc(name, unicode.IsControl), field, fault.BadFormat, "Leave out control characters.")
}

func checkEmail(wrong *fault.Form, field, email string) string {
	key, ok := EmailKey(email)
	wrong.Check(email != "", field, fault.Required, "Give an e-mail address.")
	wrong.Check(ok || email == "", field, fault.BadFormat, "Write an e-mail address of the form name@domain, at most 254 characters.")
	return key
}

func checkPassword(wrong *fault.Form, field string, password secret.Text, minLength int, words ...string) {
	if password == "" {
		wrong.Check(false, field, fault.Required, "Choose a password.")
		return
	}
	for _, v := range secret.CheckPassword(password, minLength, maxPassword, words...) {
		v.Field = field
		wrong.Add(v)
	}
}
