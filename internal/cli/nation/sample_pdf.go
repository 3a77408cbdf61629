package nation

import (
	"bytes"
	"fmt"
)

// samplePDF writes a page with a title and a text, and a comment that is not shown.
func samplePDF(title, text, comment string) []byte {
	page := fmt.Sprintf("BT /F1 28 Tf 72 700 Td (%s) Tj 0 -60 Td /F1 18 Tf (%s) Tj 0 -40 Td /F1 11 Tf (Invented for the demonstration of Lineproof.) Tj ET\n0.1 0.3 0.5 RG 3 w 60 60 475 720 re S",
		escapePDF(title), escapePDF(text))
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n%" + comment + "\n")
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(page), page),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
	}
	offsets := make([]int, len(objects))
	for i, text := range objects {
		offsets[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, text)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, at := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return b.Bytes()
}

// escapePDF writes a text as it stands in parentheses.
func escapePDF(text string) []byte {
	var b bytes.Buffer
	for _, c := range []byte(text) {
		if c == '(' || c == ')' {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.Bytes()
}
