package secret

import (
	"crypto/hmac"
	"encoding/base64"
)

// RowMAC is the verdict of [Peppers.CheckRow] about a row.
type RowMAC int

// The outcomes of [Peppers.CheckRow].
const (
	RowBroken   RowMAC = iota // the HMAC is missing or wrong, or its pepper is not in the list
	RowOutdated               // signed under an older pepper
	RowSigned                 // signed under the newest pepper
)

// SignRow returns the HMAC of a row's sum under the newest pepper, after the version of
// the pepper. The sum must cover the row's id. The name of the table is covered, too, so
// that no row of one table passes for one of another.
func (p *Peppers) SignRow(table string, sum []byte) []byte {
	return append(p.rowVersion(0), p.all[0].sign(forRows, table, string(sum))...)
}

// CheckRow compares the HMAC of a row with its sum.
func (p *Peppers) CheckRow(table string, sum, mac []byte) RowMAC {
	if len(sum) == 0 || len(mac) <= versionLen {
		return RowBroken
	}
	i := p.version(base64.RawURLEncoding.EncodeToString(mac[:versionLen]))
	if i < 0 || !hmac.Equal(mac[versionLen:], p.all[i].sign(forRows, table, string(sum))) {
		return RowBroken
	}
	if i > 0 {
		return RowOutdated
	}
	return RowSigned
}

func (p *Peppers) rowVersion(i int) []byte {
	v, _ := base64.RawURLEncoding.DecodeString(p.all[i].version) // NewPeppers encoded it
	return v
}
