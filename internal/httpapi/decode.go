package httpapi

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lineproof/lineproof/internal/fault"
)

var (
	errTooLarge  = fault.New(fault.PayloadTooLarge, "The body is too large. The limit for a JSON body is 16 KiB.")
	errMediaType = fault.New(fault.UnsupportedMediaType, "Send the body as JSON in UTF-8, with Content-Type: application/json.")
	errSyntax    = fault.New(fault.InvalidArgument, "The body is not valid JSON. Send one JSON object in UTF-8.")
	errNotObject = fault.New(fault.InvalidArgument, "The body must be one JSON object with the documented fields.")
	errTrailing  = fault.New(fault.InvalidArgument, "Unexpected data after the JSON object. Send one object and nothing else.")
	errSlowBody  = fault.New(fault.InvalidArgument, "The body took too long to arrive. Retry the request.")
	errCutOff    = fault.New(fault.InvalidArgument, "The body is incomplete. Retry the request.")
)

// field is one field of a JSON body, and where its value goes. All request bodies
// are flat objects of strings, booleans, integers and lists of strings, and the
// numbers of a batch. Reading them field by field lets one response name every
// field that is wrong.
type field struct {
	name     string
	text     *string
	flag     *bool
	number   *int
	list     *[]string
	numbers  *batchNumbers
	maxItems int   // for lists; 0 means maxList
	present  *bool // for strings: set to true if the field is present, where empty and missing differ
	required bool  // for booleans; strings are checked by the domain package
}

// maxList is the default for field.maxItems.
const maxList = 16

// decode reads the body into fields and returns the violations. The error is
// about the body as a whole.
func decode(w http.ResponseWriter, r *http.Request, fields ...field) ([]fault.Violation, error) {
	body, err := readJSON(w, r, maxJSON, errTooLarge)
	if err != nil {
		return nil, err
	}
	return decodeObject(body, fields)
}

// readJSON reads the whole of a body whose Content-Type is JSON.
func readJSON(w http.ResponseWriter, r *http.Request, limit int64, tooLarge *fault.Error) ([]byte, error) {
	if !isJSON(r) {
		return nil, errMediaType
	}
	return readBody(w, r, limit, tooLarge)
}

// readBody reads the whole of a small body.
func readBody(w http.ResponseWriter, r *http.Request, limit int64, tooLarge *fault.Error) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, tooLarge // before a byte of it is read
	}
	var body []byte
	var err error
	if r.ContentLength >= 0 {
		body = make([]byte, r.ContentLength)
		_, err = io.ReadFull(r.Body, body)
	} else {
		body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	}
	if err == nil {
		return body, nil
	}
	return nil, bodyError(err, tooLarge, errCutOff)
}

// bodyError returns the fault for a body that could not be read. Every cause is
// a client error: a body that is too slow or breaks off must not be counted as an
// error of the service.
func bodyError(err error, tooLarge, broken *fault.Error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge.Because(err)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return errSlowBody.Because(err)
	}
	return broken.Because(err)
}

// isJSON reports whether the Content-Type is JSON in UTF-8.
func isJSON(r *http.Request) bool {
	contentType := r.Header.Get("Content-Type")
	if contentType == "application/json" {
		return true // nearly every request
	}
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil || kind != "application/json" {
		return false
	}
	charset, named := params["charset"]
	return !named || strings.EqualFold(charset, "utf-8")
}

func decodeObject(body []byte, fields []field) ([]fault.Violation, error) {
	if !utf8.Valid(body) {
		return nil, errSyntax
	}
	d := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true)) // reported as violations below
	switch d.PeekKind() {
	case '{':
	case 0:
		return nil, errSyntax
	default:
		return nil, errNotObject
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, errSyntax
	}
	var wrong fault.Form
	var seen []string
	for d.PeekKind() != '}' {
		token, err := d.ReadToken()
		if err != nil || token.Kind() != '"' {
			return nil, errSyntax
		}
		name := token.String()
		if err := decodeField(d, &wrong, name, slices.Contains(seen, name), fields); err != nil {
			return nil, err
		}
		seen = append(seen, name)
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, errSyntax
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errTrailing
	}
	for _, f := range fields {
		wrong.Check(!f.required || slices.Contains(seen, f.name), f.name, fault.Required, "Missing field.")
	}
	return wrong.Violations(), nil
}

// maxUnknown is how many unknown and repeated fields are reported.
const maxUnknown = 32

func decodeField(d *jsontext.Decoder, wrong *fault.Form, name string, repeated bool, fields []field) error {
	i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
	value, err := d.ReadValue()
	if err != nil {
		return errSyntax
	}
	switch {
	case (repeated || i < 0) && len(wrong.Violations()) >= maxUnknown:
		return nil // a response far larger than its request could be used for an amplification attack
	case repeated:
		wrong.Once(printableName(name), fault.Repeated, fault.RepeatedField)
		return nil
	case i < 0:
		wrong.Check(false, printableName(name), fault.Unknown, fault.UnknownField(name, fieldNames(fields)))
		return nil
	}
	return fields[i].set(value, wrong)
}

// set stores the value, or reports that it has the wrong type.
func (f *field) set(value jsontext.Value, wrong *fault.Form) error {
	switch {
	case f.text != nil && value.Kind() == '"':
		text, err := textValue(value, f.name, wrong)
		if err != nil {
			return err
		}
		*f.text = text
		if f.present != nil {
			*f.present = true
		}
	case f.flag != nil && (value.Kind() == 't' || value.Kind() == 'f'):
		*f.flag = value.Kind() == 't'
	case f.number != nil:
		n, err := strconv.Atoi(string(value))
		wrong.Check(err == nil, f.name, fault.WrongType, "Must be a JSON integer.")
		*f.number = n
	case f.list != nil && value.Kind() == '[':
		return f.setList(value, wrong)
	case f.numbers != nil && value.Kind() == '[':
		return f.numbers.decode(value, f.name, wrong)
	case f.text != nil:
		wrong.Check(false, f.name, fault.WrongType, "Must be a JSON string.")
	case f.numbers != nil:
		wrong.Check(false, f.name, fault.WrongType, "Must be a JSON array of phone numbers.")
	case f.list != nil:
		wrong.Check(false, f.name, fault.WrongType, "Must be a JSON array of strings.")
	default:
		wrong.Check(false, f.name, fault.WrongType, "Must be true or false.")
	}
	return nil
}

func (f *field) setList(value jsontext.Value, wrong *fault.Form) error {
	d := jsontext.NewDecoder(bytes.NewReader(value), jsontext.AllowDuplicateNames(true))
	if _, err := d.ReadToken(); err != nil {
		return errSyntax
	}
	for d.PeekKind() != ']' {
		item, err := d.ReadValue()
		if err != nil {
			return errSyntax
		}
		if item.Kind() != '"' {
			wrong.Check(false, f.name, fault.WrongType, "Every value in the array must be a JSON string.")
			return nil
		}
		if limit := cmp.Or(f.maxItems, maxList); len(*f.list) == limit {
			wrong.Check(false, f.name, fault.TooLong, "At most "+strconv.Itoa(limit)+" values are allowed.")
			return nil
		}
		text, err := textValue(item, f.name, wrong)
		if err != nil {
			return err
		}
		*f.list = append(*f.list, text)
	}
	return nil
}

// textValue returns the string of a JSON value, and reports a NUL character,
// which PostgreSQL cannot store.
func textValue(value jsontext.Value, name string, wrong *fault.Form) (string, error) {
	b, err := jsontext.AppendUnquote(nil, value)
	if err != nil {
		return "", errSyntax
	}
	if bytes.IndexByte(b, 0) >= 0 {
		wrong.Once(name, fault.BadFormat, "Must not contain the NUL character.")
	}
	return string(b), nil
}

// printableName returns a field name from a request as a response may repeat it:
// short and printable.
func printableName(name string) string {
	const maxName = 64
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, name)
	if utf8.RuneCountInString(name) > maxName {
		return string([]rune(name)[:maxName]) + "…"
	}
	return name
}

// mergeViolations joins the violations found while reading the request with those
// in err, which the domain found. A field that could not be read is not reported
// a second time.
func mergeViolations(found []fault.Violation, err error) error {
	if len(found) == 0 {
		return err
	}
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Code != fault.InvalidArgument {
		return fault.ErrInvalid.With(found...)
	}
	all := slices.Clone(found)
	for _, v := range f.Violations {
		if !slices.ContainsFunc(found, func(x fault.Violation) bool { return x.Field == v.Field }) {
			all = append(all, v)
		}
	}
	return fault.ErrInvalid.With(all...)
}

// fieldNames returns the names of fields.
func fieldNames(fields []field) []string {
	names := make([]string, len(fields))
	for i := range fields {
		names[i] = fields[i].name
	}
	return names
}
