package httpapi

import (
	"bytes"
	"cmp"
	"encoding/json/jsontext"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lineproof/lineproof/internal/values/fault"
)

var (
	errSyntax    = fault.New(fault.InvalidArgument, "The body is not valid JSON. Send one JSON object in UTF-8.")
	errNotObject = fault.New(fault.InvalidArgument, "The body must be one JSON object with the documented fields.")
	errTrailing  = fault.New(fault.InvalidArgument, "Unexpected data after the JSON object. Send one object and nothing else.")
)

// field is one field of a JSON body, and where its value goes. Nearly all request
// bodies are flat objects of strings, booleans, integers and lists of strings. Reading
// them field by field lets one response name every field that is wrong.
type field struct {
	name     string
	text     *string
	flag     *bool
	number   *int
	list     *[]string
	value    func(*bodyReader, jsontext.Value, *fault.Form) error // reads anything else, such as the numbers of a batch
	maxItems int                                                  // for lists; 0 means maxList
	present  *bool                                                // for strings: set to true if the field is present, where empty and missing differ
	required bool                                                 // for booleans; strings are checked by the domain package
}

// maxList is the default for field.maxItems.
const maxList = 16

// decode reads the body into fields and returns the violations. The error is
// about the body as a whole.
func decode(r *http.Request, fields ...field) ([]fault.Violation, error) {
	body, err := readJSON(r)
	if err != nil {
		return nil, err
	}
	return decodeObject(body, fields)
}

// The most unknown and repeated fields that are reported, and that are read: a body that
// has more was not written for this API. The time to read a body is in proportion to its
// size, because nothing is compared with more than these.
const (
	maxUnknown     = 32
	maxUnknownRead = 64
)

var errUnknownFields = fault.New(fault.InvalidArgument, "The body has more than "+strconv.Itoa(maxUnknownRead)+" fields that are unknown or repeated. Send the documented fields, each once.")

// decodeObject reads a body into fields and returns the violations. The error is about
// the body as a whole.
func decodeObject(body []byte, fields []field) ([]fault.Violation, error) {
	if !utf8.Valid(body) {
		return nil, errSyntax
	}
	found, err := (&bodyReader{}).object(body, fields)
	if errors.Is(err, errUnknownFields) {
		return nil, errUnknownFields.With(found...)
	}
	return found, err
}

// bodyReader reads one body, with the objects in it.
type bodyReader struct {
	unknown int // unknown and repeated fields so far
}

// object reads an object, which is all of value, and returns the violations.
func (b *bodyReader) object(value []byte, fields []field) ([]fault.Violation, error) {
	d := jsontext.NewDecoder(bytes.NewReader(value), jsontext.AllowDuplicateNames(true)) // reported as violations below
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
	o := object{bodyReader: b, fields: fields}
	for d.PeekKind() != '}' {
		if err := o.readField(d); err != nil {
			return o.wrong.Violations(), err
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, errSyntax
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errTrailing
	}
	for i, f := range fields {
		o.wrong.Check(!f.required || o.seen>>i&1 == 1, f.name, fault.Required, "Missing field.")
	}
	return o.wrong.Violations(), nil
}

// object is one object while it is read.
type object struct {
	*bodyReader

	fields  []field
	seen    uint64   // a bit for each of fields that was read
	unknown []string // names that are not among fields
	wrong   fault.Form
}

func (o *object) readField(d *jsontext.Decoder) error {
	token, err := d.ReadToken()
	if err != nil || token.Kind() != '"' {
		return errSyntax
	}
	name := token.String()
	value, err := d.ReadValue()
	if err != nil {
		return errSyntax
	}
	i := slices.IndexFunc(o.fields, func(f field) bool { return f.name == name })
	if i >= 0 && o.seen>>i&1 == 0 {
		o.seen |= 1 << i
		return o.fields[i].set(o.bodyReader, value, &o.wrong)
	}
	repeated := i >= 0 || slices.Contains(o.unknown, name)
	if !repeated {
		o.unknown = append(o.unknown, name)
	}
	switch o.bodyReader.unknown++; {
	case o.bodyReader.unknown > maxUnknownRead:
		return errUnknownFields
	case len(o.wrong.Violations()) >= maxUnknown: // a response far larger than its request could be used for an amplification attack
	case repeated:
		o.wrong.Once(printableName(name), fault.Repeated, fault.RepeatedField)
	default:
		o.wrong.Check(false, printableName(name), fault.Unknown, fault.UnknownField(name, fieldNames(o.fields)))
	}
	return nil
}

// set stores the value, or reports that it has the wrong type.
func (f *field) set(b *bodyReader, value jsontext.Value, wrong *fault.Form) error {
	switch {
	case f.value != nil:
		return f.value(b, value, wrong)
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
	case f.text != nil:
		wrong.Check(false, f.name, fault.WrongType, "Must be a JSON string.")
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

// maxListViolations is how many violations of the items of a list are reported.
const maxListViolations = 100

// addItem adds what is wrong with an item of a list, whose path in the body is place.
func addItem(wrong *fault.Form, place string, found ...fault.Violation) {
	for _, v := range found {
		if len(wrong.Violations()) >= maxListViolations {
			return
		}
		if v.Field != "" {
			v.Field = "." + v.Field
		}
		wrong.Once(place+v.Field, v.Code, v.Message)
	}
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
	switch {
	case name == "":
		return `""` // a violation names its field
	case utf8.RuneCountInString(name) > maxName:
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
	if !ok || f.Code != fault.InvalidArgument && f.Code != fault.OutOfRange {
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
