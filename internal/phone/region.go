package phone

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nyaruka/phonenumbers"
)

// Region reads numbers as they are written in one country.
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

// Parse reads a number of any country. It need only be possible there: of a length
// that the country uses. Without a plus sign or 00 in front it is read as a number of
// the region, with or without the region's own prefixes. The error is ErrMalformed.
func (r *Region) Parse(s string) (Number, error) {
	d, ok := read(s)
	if !ok {
		return Number{}, ErrMalformed
	}
	if n, ok := r.known(d); ok {
		return n, nil
	}
	n, _, err := r.lookUp(d)
	if errors.Is(err, errNoSuch) {
		err = nil // possible, which is enough here
	}
	return n, err
}

// ParseMobile reads a mobile number of the region. The error is ErrMalformed for
// what Parse refuses and for a number of the region that its plan does not have,
// as when a digit is missing; it is ErrNotMobile for every other number.
func (r *Region) ParseMobile(s string) (Number, error) {
	d, ok := read(s)
	if !ok {
		return Number{}, ErrMalformed
	}
	if n, ok := r.known(d); ok {
		return n, nil
	}
	n, mobile, err := r.lookUp(d)
	if err != nil {
		return Number{}, ErrMalformed
	}
	if !mobile {
		return Number{}, ErrNotMobile
	}
	return n, nil
}

// known reads the mobile numbers that need no library.
func (r *Region) known(d dialled) (Number, bool) {
	if r.code != "NG" {
		return Number{}, false
	}
	return nigerianMobile(d)
}

// errNoSuch reports a number of the region that is possible by its length and
// not in the region's plan.
var errNoSuch = errors.New("phone: the region has no such number")

// lookUp asks the library for the number, and whether it is a mobile number of the
// region. Where a plan does not tell mobile from fixed lines (the United States),
// every number counts as mobile. The library's own errors are not kept: they tell the
// caller nothing more.
func (r *Region) lookUp(d dialled) (n Number, mobile bool, err error) {
	p, err := phonenumbers.Parse(d.String(), r.code)
	if err != nil || phonenumbers.IsPossibleNumberWithReason(p) != phonenumbers.IS_POSSIBLE {
		return Number{}, false, ErrMalformed
	}
	n, ok := fromLibrary(p)
	if !ok {
		return Number{}, false, ErrMalformed
	}
	// The library drops prefixes one at a time, so that with a zero too many the
	// canonical form would be read as a different number. That is not a number.
	again, err := phonenumbers.Parse(n.E164(), r.code)
	if err != nil {
		return Number{}, false, ErrMalformed
	}
	if same, ok := fromLibrary(again); !ok || same != n {
		return Number{}, false, ErrMalformed
	}
	if int(p.GetCountryCode()) == phonenumbers.GetCountryCodeForRegion(r.code) && !phonenumbers.IsValidNumber(p) {
		return n, false, errNoSuch
	}
	kind := phonenumbers.GetNumberType(p)
	mobile = (kind == phonenumbers.MOBILE || kind == phonenumbers.FIXED_LINE_OR_MOBILE) &&
		phonenumbers.GetRegionCodeForNumber(p) == r.code
	return n, mobile, nil
}

// fromLibrary returns the library's number as ours. It is false for the few that the
// library allows and E.164 does not.
func fromLibrary(p *phonenumbers.PhoneNumber) (Number, bool) {
	e164 := strconv.Itoa(int(p.GetCountryCode())) + phonenumbers.GetNationalSignificantNumber(p)
	i, err := strconv.ParseInt(e164, 10, 64)
	if err != nil {
		return Number{}, false
	}
	return FromInt(i)
}
