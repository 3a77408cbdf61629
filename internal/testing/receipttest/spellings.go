package receipttest

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// otherSpelling returns base64 with a last character whose unused bits are set: a lenient
// decoder reads the same from it.
func otherSpelling(text string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	at := strings.IndexByte(text, '=') - 1
	return text[:at] + string(alphabet[strings.IndexByte(alphabet, text[at])|1]) + text[at+1:]
}

// onBytes changes what a member in base64 holds.
func onBytes(member any, change func([]byte) []byte) string {
	text, _ := member.(string)
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(change(raw))
}

func longer(member any) string {
	return onBytes(member, func(b []byte) []byte { return append(b, 0) })
}

func shorter(member any) string {
	return onBytes(member, func(b []byte) []byte { return b[:len(b)-1] })
}

func replaced(member any, old, replacement string) string {
	return onBytes(member, func(b []byte) []byte { return []byte(strings.Replace(string(b), old, replacement, 1)) })
}

// negative makes the time in the public part negative: it is the second field.
func negative(member any) string {
	const at = len("lineproof record 1\n") + 4 + 16 + 4
	return onBytes(member, func(b []byte) []byte { b[at] = 0xff; return b })
}

// withoutSignatures keeps the first so many signatures of a proof.
func withoutSignatures(proof any, keep int) string {
	text, _ := proof.(string)
	at := strings.LastIndex(text, "\n\n") + 2
	lines := strings.SplitAfter(text[at:], "\n")
	return text[:at] + strings.Join(lines[:keep], "")
}

func withoutLog(proof any) string {
	text, _ := proof.(string)
	at := strings.LastIndex(text, "\n\n") + 2
	_, rest, _ := strings.Cut(text[at:], "\n")
	return text[:at] + rest
}

// repeated puts the signature of the log a second time behind the others.
func repeated(proof any) string {
	text, _ := proof.(string)
	line, _, _ := strings.Cut(text[strings.LastIndex(text, "\n\n")+2:], "\n")
	return text + line + "\n"
}

// otherTime changes the time in the last cosignature.
func otherTime(proof any) string {
	text, _ := proof.(string)
	at := strings.LastIndex(text, " ") + 1
	return text[:at] + onBytes(strings.TrimSpace(text[at:]), func(b []byte) []byte { b[4+7] ^= 1; return b }) + "\n"
}

// dropLine leaves out a line.
func dropLine(proof any, n int) string {
	text, _ := proof.(string)
	lines := strings.Split(text, "\n")
	return strings.Join(append(lines[:n:n], lines[n+1:]...), "\n")
}

func manySignatures(n int) string {
	var all strings.Builder
	for i := range n {
		all.WriteString(signatureLine(fmt.Sprintf("w%d.example", i), make([]byte, 5)))
	}
	return all.String()
}

// twice puts a member before the others of its object, which have one of that name.
func twice(text, object, name, value string) string {
	return strings.Replace(text, object+"{", object+"{\""+name+"\":"+value+",", 1)
}
