package phone

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nyaruka/phonenumbers"
)

// Region parses numbers as they are written in one country.
type Region struct {
	code string // ISO 3166, two letters
}

// NewRegion returns the region with that ISO 3166 code, for example NG.
func NewRegion(code string) (*Region, error) {
	upper := strings.ToUpper(code)
	if !phonenumbers.GetSupportedRegions()[upper] {
		return nil, fmt.Errorf("phone: region %q is not known; use a two-letter ISO 3166 code such as NG", code)
	}
	return &Region{code: upper}, nil
}

// Parse parses a number of any country. The number must only have a length that the
// country uses. Without a leading plus sign or 00 it is taken as a number of the
// region, with or without the region's own prefixes. The error is ErrMalformed.
func (r *Region) Parse(s string) (Number, error) {
	d, ok := stripPunctuation(s)
	if !ok {
		return Number{}, ErrMalformed
	}
	if n, ok := r.parseFast(d); ok {
		return n, nil
	}
	n, _, err := r.parseWithLibrary(d)
	if errors.Is(err, errNotInPlan) {
		err = nil // a possible length is enough here
	}
	return n, err
}

// ParseMobile parses a mobile number of the region. The error is ErrMalformed for
// text that Parse refuses and for a number that is not in the region's plan, for
// example because a digit is missing. It is ErrNotMobile for every other number.
func (r *Region) ParseMobile(s string) (Number, error) {
	d, ok := stripPunctuation(s)
	if !ok {
		return Number{}, ErrMalformed
	}
	if n, ok := r.parseFast(d); ok {
		return n, nil
	}
	n, mobile, err := r.parseWithLibrary(d)
	if err != nil {
		return Number{}, ErrMalformed
	}
	if !mobile {
		return Number{}, ErrNotMobile
	}
	return n, nil
}

// parseFast parses the mobile numbers that do not need the library.
func (r *Region) parseFast(d rawNumber) (Number, bool) {
	if r.code != "NG" {
		return Number{}, false
	}
	return nigerianMobile(d)
}

// errNotInPlan reports a number of the region that has a possible length but is not
// in the region's plan.
var errNotInPlan = errors.New("phone: the number is not in the plan of the region")

// parseWithLibrary parses the number with the library, and reports whether it is a
// mobile number of the region. Where a plan does not distinguish mobile and fixed
// lines (the United States), every number counts as mobile. The library's own errors
// are dropped, because they do not tell the caller more.
func (r *Region) parseWithLibrary(d rawNumber) (n Number, mobile bool, err error) {
	p, err := phonenumbers.Parse(d.String(), r.code)
	if err != nil || phonenumbers.IsPossibleNumberWithReason(p) != phonenumbers.IS_POSSIBLE {
		return Number{}, false, ErrMalformed
	}
	n, ok := fromLibrary(p)
	if !ok {
		return Number{}, false, ErrMalformed
	}
	// The library removes only one prefix, so with one zero too many the E.164 form
	// would be parsed as a different number. Such text is refused.
	reparsed, err := phonenumbers.Parse(n.E164(), r.code)
	if err != nil {
		return Number{}, false, ErrMalformed
	}
	if same, ok := fromLibrary(reparsed); !ok || same != n {
		return Number{}, false, ErrMalformed
	}
	if int(p.GetCountryCode()) == phonenumbers.GetCountryCodeForRegion(r.code) && !phonenumbers.IsValidNumber(p) {
		return n, false, errNotInPlan
	}
	kind := phonenumbers.GetNumberType(p)
	mobile = (kind == phonenumbers.MOBILE || kind == phonenumbers.FIXED_LINE_OR_MOBILE) &&
		phonenumbers.GetRegionCodeForNumber(p) == r.code
	return n, mobile, nil
}

// fromLibrary converts a number of the library. It is false for the few that the
// library allows but E.164 does not.
func fromLibrary(p *phonenumbers.PhoneNumber) (Number, bool) {
	e164 := strconv.Itoa(int(p.GetCountryCode())) + phonenumbers.GetNationalSignificantNumber(p)
	i, err := strconv.ParseInt(e164, 10, 64)
	if err != nil {
		return Number{}, false
	}
	return FromInt(i)
}
