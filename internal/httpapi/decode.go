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
	errTooLarge  = fault.New(fault.PayloadTooLarge, "The body is larger than the operation takes. A JSON body may have 16 KiB.")
	errMediaType = fault.New(fault.UnsupportedMediaType, "Send the body as application/json in UTF-8 and say so in the Content-Type header.")
	errSyntax    = fault.New(fault.InvalidArgument, "The body is not valid JSON. Send one JSON object in UTF-8.")
	errNotObject = fault.New(fault.InvalidArgument, "The body must be one JSON object with the documented fields.")
	errTrailing  = fault.New(fault.InvalidArgument, "There is something after the JSON object. Send one object and nothing else.")
	errSlowBody  = fault.New(fault.InvalidArgument, "The body did not arrive in time. Send the request again.")
	errCutOff    = fault.New(fault.InvalidArgument, "The body ended before it was complete. Send the request again.")
)

// field is one member that a JSON body may have, and where its value goes. All
// our bodies are flat objects of texts, truth values, whole numbers and lists of texts; reading
// them member by member lets every complaint be made at once, by name.
type field struct {
	name     string
	text     *string
	flag     *bool
	number   *int
	list     *[]string
	most     int   // for lists: how many texts it may have; 0 means maxList
	given    *bool // for texts: told whether the member is there, where an empty text is not the same as none
	required bool  // for flags: whether the member must be there; text is judged by its domain package
}

// maxList is how many texts a list may have, unless its field says otherwise.
const maxList = 16

// decode reads the body into fields and returns what is wrong with them. Its
// error is about the body as a whole.
func decode(w http.ResponseWriter, r *http.Request, fields ...field) ([]fault.Violation, error) {
	body, err := readJSON(w, r, maxJSON, errTooLarge)
	if err != nil {
		return nil, err
	}
	return decodeObject(body, fields)
}

// readJSON reads a body whole that says that it is JSON.
func readJSON(w http.ResponseWriter, r *http.Request, limit int64, tooLarge *fault.Error) ([]byte, error) {
	if !isJSON(r) {
		return nil, errMediaType
	}
	return readBody(w, r, limit, tooLarge)
}

// readBody reads a small body whole.
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

// bodyError tells the ways in which a body fails to arrive. All of them are the
// caller's doing: one that is too slow or breaks off must not look like trouble
// of ours.
func bodyError(err error, tooLarge, broken *fault.Error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge.Because(err)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return errSlowBody.Because(err)
	}
	return broken.Because(err)
}

// isJSON reports whether the request says that its body is JSON in UTF-8.
func isJSON(r *http.Request) bool {
	said := r.Header.Get("Content-Type")
	if said == "application/json" {
		return true // as nearly all say it
	}
	kind, params, err := mime.ParseMediaType(said)
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
	d := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true)) // we name them ourselves
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
		if err := decodeMember(d, &wrong, name, slices.Contains(seen, name), fields); err != nil {
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
		wrong.Check(!f.required || slices.Contains(seen, f.name), f.name, fault.Required, "The field is missing.")
	}
	return wrong.Violations(), nil
}

// maxStrangers is how many members that have no place in the body are named.
const maxStrangers = 32

func decodeMember(d *jsontext.Decoder, wrong *fault.Form, name string, again bool, fields []field) error {
	i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
	value, err := d.ReadValue()
	if err != nil {
		return errSyntax
	}
	switch {
	case (again || i < 0) && len(wrong.Violations()) >= maxStrangers:
		return nil // an answer far larger than its request would be a gift to somebody
	case again:
		wrong.Once(showable(name), fault.Repeated, "The field stands more than once. Send it once.")
		return nil
	case i < 0:
		wrong.Check(false, showable(name), fault.Unknown, "The operation has no such field. Leave it out, or correct its spelling.")
		return nil
	}
	return fields[i].take(value, wrong)
}

// take stores a value of the kind that the field has, and complains about one of
// another kind.
func (f *field) take(value jsontext.Value, wrong *fault.Form) error {
	switch {
	case f.text != nil && value.Kind() == '"':
		text, err := plainText(value, f.name, wrong)
		if err != nil {
			return err
		}
		*f.text = text
		if f.given != nil {
			*f.given = true
		}
	case f.flag != nil && (value.Kind() == 't' || value.Kind() == 'f'):
		*f.flag = value.Kind() == 't'
	case f.number != nil:
		n, err := strconv.Atoi(string(value))
		wrong.Check(err == nil, f.name, fault.WrongType, "The value must be a whole number, without quotation marks.")
		*f.number = n
	case f.list != nil && value.Kind() == '[':
		return f.takeList(value, wrong)
	case f.text != nil:
		wrong.Check(false, f.name, fault.WrongType, "The value must be a text in quotation marks.")
	case f.list != nil:
		wrong.Check(false, f.name, fault.WrongType, "The value must be a list of texts, in square brackets.")
	default:
		wrong.Check(false, f.name, fault.WrongType, "The value must be true or false, without quotation marks.")
	}
	return nil
}

func (f *field) takeList(value jsontext.Value, wrong *fault.Form) error {
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
			wrong.Check(false, f.name, fault.WrongType, "Every value in the list must be a text in quotation marks.")
			return nil
		}
		if most := cmp.Or(f.most, maxList); len(*f.list) == most {
			wrong.Check(false, f.name, fault.TooLong, "The list may have at most "+strconv.Itoa(most)+" values.")
			return nil
		}
		text, err := plainText(item, f.name, wrong)
		if err != nil {
			return err
		}
		*f.list = append(*f.list, text)
	}
	return nil
}

// plainText returns the text of a JSON value, and complains about one that the
// database could not hold.
func plainText(value jsontext.Value, name string, wrong *fault.Form) (string, error) {
	b, err := jsontext.AppendUnquote(nil, value)
	if err != nil {
		return "", errSyntax
	}
	if bytes.IndexByte(b, 0) >= 0 {
		wrong.Once(name, fault.BadFormat, "Leave out the NUL character.")
	}
	return string(b), nil
}

// showable returns a field's name as an answer may repeat it: whatever a caller
// put there, it stays short and printable.
func showable(name string) string {
	const longest = 64
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, name)
	if utf8.RuneCountInString(name) > longest {
		return string([]rune(name)[:longest]) + "…"
	}
	return name
}

// merge joins what reading the request found with what the domain found. Where
// there is a complaint about a field already, the domain's word about it is noise.
func merge(found []fault.Violation, err error) error {
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
