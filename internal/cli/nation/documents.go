package nation

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/platform/pause"
)

// sendDocuments lets the operators and the bank submit documents, of which the reviewer has
// decided some.
func (n *nation) sendDocuments(ctx context.Context) error {
	session, err := n.login(ctx, reviewer)
	if err != nil {
		return err
	}
	for i, o := range n.lines {
		token, err := n.token(ctx, o.name)
		if err != nil {
			return err
		}
		for j, d := range []struct{ kind, title string }{
			{client.DocumentCACCertificate, "Certificate of incorporation"}, {client.DocumentOperatingLicence, "Operating licence"},
		} {
			err := n.once("document "+o.code+" "+d.kind, func() error {
				comment := "no comment"
				if i == 3 && j == 1 {
					comment = VirusTestText // the scanner finds it
				}
				id, err := n.api.UploadDocument(ctx, token, client.Document{
					Type: d.kind, FileName: d.title + ".pdf", EntityUID: n.st.Entities[o.name], Content: bytes.NewReader(samplePDF(o.name, d.title, comment)),
				})
				if err != nil {
					return err
				}
				switch {
				case i == 0:
					return n.review(ctx, session, id, true, "")
				case i == 3 && j == 0:
					return n.review(ctx, session, id, false, "The stamp cannot be read. Send a scan in colour.")
				}
				return nil // it waits for a decision
			})
			if err != nil {
				return err
			}
		}
	}
	return n.once("document of the bank", func() error {
		session, err := n.login(ctx, bankAdmin)
		if err != nil {
			return err
		}
		_, err = n.api.UploadDocument(ctx, session, client.Document{
			Type: client.DocumentDataProtectionRegistration, FileName: "Data protection registration.pdf", Content: bytes.NewReader(samplePDF(harbour, "Data protection registration", "no comment")),
		})
		return err
	})
}

// review decides a document when it has been scanned.
func (n *nation) review(ctx context.Context, session client.Secret, id string, accept bool, reason string) error {
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline) && ctx.Err() == nil; pause.For(ctx, 100*time.Millisecond) {
		d, err := n.api.Document(ctx, session, id)
		if err != nil {
			return err
		}
		if d.State == "clean" {
			_, err = n.api.ReviewDocument(ctx, session, id, accept, reason)
			return err
		}
	}
	return errors.New("the document was not scanned within 30 seconds")
}
