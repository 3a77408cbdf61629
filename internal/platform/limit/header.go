package limit

import (
	"strconv"
	"time"
)

// WholeSeconds rounds a time up.
func WholeSeconds(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}

// AppendPolicy appends to a RateLimit-Policy header how many requests the rate allows (q) in
// how many seconds (w).
func (r Rate) AppendPolicy(b []byte, name string) []byte {
	if r.Unlimited() {
		return b
	}
	seconds := max(float64(r.Burst)/r.PerSecond, 1)
	b = appendItem(b, name, ";q=", int64(r.Burst))
	return strconv.AppendInt(append(b, ";w="...), int64(WholeSeconds(time.Duration(seconds*float64(time.Second)))/time.Second), 10)
}

// AppendState appends to a RateLimit header how many requests are left (r), and in how many
// seconds all are available again (t). Every response to a key has it, so it is written
// without package fmt.
func (v *Verdict) AppendState(b []byte, name string) []byte {
	if v.Limit == 0 {
		return b
	}
	b = appendItem(b, name, ";r=", int64(v.Remaining))
	return strconv.AppendInt(append(b, ";t="...), int64(WholeSeconds(v.Reset)/time.Second), 10)
}

// appendItem appends an item to a list of structured fields (RFC 9651), with its first
// parameter.
func appendItem(b []byte, name, parameter string, n int64) []byte {
	if len(b) > 0 {
		b = append(b, ", "...)
	}
	b = append(append(append(b, '"'), name...), '"')
	return strconv.AppendInt(append(b, parameter...), n, 10)
}
