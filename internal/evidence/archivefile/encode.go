package archivefile

import (
	"encoding/hex"
	"encoding/json/jsontext"
	"strconv"
	"time"

	"github.com/google/uuid"
)

// Lines are written by hand and not by reflection: an archive has one for every record,
// and encoding them would take more time than anything else. A test compares each with
// the line that package json makes.

// AppendLine appends the line of a batch, without its entries.
func (b *Batch) AppendLine(to []byte) ([]byte, error) {
	to, err := appendText(append(to, `{"batch":{"node":`...), b.Node)
	if err != nil {
		return to, err
	}
	to = strconv.AppendInt(append(to, `,"epoch":`...), b.Epoch, 10)
	to = strconv.AppendInt(append(to, `,"n":`...), b.N, 10)
	to = appendTime(append(to, `,"at":`...), b.At)
	to = strconv.AppendInt(append(to, `,"count":`...), int64(b.Count), 10)
	to = appendHex(append(to, `,"root":`...), b.Root)
	if to, err = appendText(append(to, `,"xact":`...), b.Xact); err != nil {
		return to, err
	}
	to = strconv.AppendInt(append(to, `,"log":`...), b.Log, 10)
	return append(to, "}}\n"...), nil
}

// AppendLine appends the line of an entry.
func (e *Entry) AppendLine(to []byte) (_ []byte, err error) {
	to = appendID(append(to, `{"entry":{"requestId":`...), e.RequestID)
	to = appendTime(append(to, `,"at":`...), e.At)
	if to, err = appendText(append(to, `,"type":`...), e.Type); err != nil {
		return to, err
	}
	to = appendID(append(to, `,"entity":`...), e.Entity)
	to = appendID(append(to, `,"key":`...), e.Key)
	for _, field := range [...]struct{ name, text string }{
		{`,"mode":`, e.Mode},
		{`,"purpose":`, e.Purpose},
		{`,"purposeText":`, e.PurposeText},
		{`,"status":`, e.Status},
		{`,"reason":`, e.Reason},
		{`,"mobileNetwork":`, e.MobileNetwork},
	} {
		if to, err = appendText(append(to, field.name...), field.text); err != nil {
			return to, err
		}
	}
	to = strconv.AppendInt(append(to, `,"lineVersion":`...), e.LineVersion, 10)
	to = strconv.AppendInt(append(to, `,"policyVersion":`...), int64(e.PolicyVersion), 10)
	to = strconv.AppendInt(append(to, `,"planVersion":`...), int64(e.PlanVersion), 10)
	to = strconv.AppendInt(append(to, `,"rules":`...), int64(e.Rules), 10)
	to = appendHex(append(to, `,"coverage":`...), e.Coverage[:])
	to = strconv.AppendInt(append(to, `,"number":`...), e.Number, 10)
	for _, field := range [...]struct{ name, text string }{
		{`,"phoneNumber":`, e.PhoneNumber},
		{`,"correlator":`, e.Correlator},
		{`,"externalId":`, e.ExternalID},
		{`,"onBehalfOf":`, e.OnBehalfOf},
		{`,"options":`, e.Options},
		{`,"extra":`, e.Extra},
	} {
		if to, err = appendText(append(to, field.name...), field.text); err != nil {
			return to, err
		}
	}
	to = appendHex(append(to, `,"nonce":`...), e.StoredNonce())
	to = appendHex(append(to, `,"hash":`...), e.StoredHash)
	return append(to, "}}\n"...), nil
}

// appendText appends a text as JSON. Most texts are a few plain characters or none.
func appendText(to []byte, text string) ([]byte, error) {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return jsontext.AppendQuote(to, text)
		}
	}
	to = append(to, '"')
	to = append(to, text...)
	return append(to, '"'), nil
}

func appendHex(to, bytes []byte) []byte {
	to = hex.AppendEncode(append(to, '"'), bytes)
	return append(to, '"')
}

func appendTime(to []byte, at time.Time) []byte {
	to = at.AppendFormat(append(to, '"'), TimeFormat)
	return append(to, '"')
}

func appendID(to []byte, id uuid.UUID) []byte {
	to = append(to, '"')
	for i, group := range [...][]byte{id[:4], id[4:6], id[6:8], id[8:10], id[10:]} {
		if i > 0 {
			to = append(to, '-')
		}
		to = hex.AppendEncode(to, group)
	}
	return append(to, '"')
}
