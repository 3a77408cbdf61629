package receipt

import (
	"encoding/hex"
	"encoding/json"
	"maps"
	"strings"
)

// MarshalJSON writes the facts by the names that the verifiers in JavaScript and Python use, with times as they are
// encoded: in milliseconds since 1970, and those of witnesses in seconds.
func (v *Verified) MarshalJSON() ([]byte, error) {
	f := v.Record.facts()
	maps.Copy(f, v.InLog.facts())
	return json.Marshal(f)
}

// MarshalJSON writes the facts as those of a [Verified] receipt.
func (p *Promised) MarshalJSON() ([]byte, error) {
	f := p.facts()
	f["origin"], f["until"] = p.Origin, p.Until.UnixMilli()
	return json.Marshal(f)
}

// MarshalJSON writes the facts as those of a [Verified] receipt. The member asOf is null if the supplier did not say it.
func (s *Supplied) MarshalJSON() ([]byte, error) {
	f := s.facts()
	maps.Copy(f, map[string]any{
		"import": s.Import, "number": s.Number, "supplier": s.Supplier, "kind": s.Kind, "asOf": nil, "rows": s.Rows, "refused": s.Refused,
		"file": hex.EncodeToString(s.File[:]), "at": s.At.UnixMilli(),
	})
	if !s.AsOf.IsZero() {
		f["asOf"] = s.AsOf.UnixMilli()
	}
	return json.Marshal(f)
}

func (in *InLog) facts() map[string]any {
	witnessed := map[string]int64{}
	for name, at := range in.Witnessed {
		witnessed[name] = at.Unix()
	}
	return map[string]any{"origin": in.Origin, "index": in.Index, "size": in.Size, "witnessed": witnessed}
}

func (rec *Record) facts() map[string]any {
	f := map[string]any{
		"requestId": rec.RequestID, "at": rec.At.UnixMilli(), "type": rec.Type, "entity": rec.Entity, "key": rec.Key, "mode": rec.Mode,
		"purpose": rec.Purpose, "purposeText": rec.PurposeText, "status": rec.Status, "reason": rec.Reason, "mobileNetwork": rec.MobileNetwork,
		"lineVersion": rec.LineVersion, "policyVersion": rec.PolicyVersion, "planVersion": rec.PlanVersion, "rules": rec.Rules,
		"coverage": hex.EncodeToString(rec.Coverage), "erased": rec.Erased,
	}
	if !rec.Erased {
		maps.Copy(f, map[string]any{
			"number": rec.Number, "phoneNumber": rec.PhoneNumber, "correlator": rec.Correlator, "externalId": rec.ExternalID,
			"onBehalfOf": rec.OnBehalfOf, "options": rec.Options, "extra": rec.Extra,
		})
	}
	return f
}

// IsTest reports whether the request was made with a test key, so that the answer is not about a real line.
func (rec *Record) IsTest() bool { return rec.Mode != "live" }

// Since returns the time since when a change was asked for, as it stands in the options; "" if none was.
func (rec *Record) Since() string {
	first, _, _ := strings.Cut(rec.Options, " ")
	since, asked := strings.CutPrefix(first, "since=")
	if !asked {
		return ""
	}
	return since
}
