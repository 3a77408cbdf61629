package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/client"
)

func (r *remote) tokenCommand() *cobra.Command {
	var scopes []string
	cmd := &cobra.Command{
		Use:     "token",
		Short:   "Get an access token for a client's id and secret",
		Long:    "Gets an access token and prints it, alone, on standard output.",
		Example: "  export LINEPROOF_API_TOKEN=$(lineproof api token --client-id \"$ID\" --client-secret-file ./secret)",
		Args:    cobra.NoArgs,
	}
	r.clientFlags(cmd)
	cmd.Flags().StringSliceVar(&scopes, "scope", nil, "what the token is to be good for (default: all that the client may); may be repeated")
	completes(cmd, "scope", client.ScopeOnboard, client.ScopeUpload, client.ScopeSupply, client.ScopePort, client.ScopeFlag, client.ScopeOrder)
	asJSON := jsonFlag(cmd)
	cmd.RunE = r.run(func(ctx context.Context, c *client.Client, _ []string) error {
		t, err := r.newToken(ctx, c, scopes)
		if err != nil {
			return err
		}
		r.app.note("The token is valid until %s.", moment(t.ExpiresAt))
		return r.app.print(*asJSON,
			map[string]any{"token": string(t.AccessToken), "expiration": moment(t.ExpiresAt), "scopes": t.Scopes},
			[]string{string(t.AccessToken)})
	})
	return cmd
}

func (r *remote) onboardCommand() *cobra.Command {
	var form client.Application
	cmd := &cobra.Command{
		Use:   "onboard",
		Short: "Register a telco together with its admin",
		Long: `Registers a pre-approved telco together with its admin and prints the entity.

It needs an access token, or a client's id and secret, with which it gets one. The admin's password is read like
any credential, and is asked for when it is not given and a person sits at the terminal.`,
		Example: `  lineproof api onboard --name 'Example Telecom' --cac RC654321 --admin-name 'Ada Obi' \
    --admin-email ada@telecom.example --admin-phone +2348031230000 --password-file ./password`,
		Args: cobra.NoArgs,
	}
	flags := cmd.Flags()
	flags.StringVar(&form.Name, "name", "", "the telco's name")
	flags.StringVar(&form.CAC, "cac", "", "its number in the companies register")
	flags.BoolVar(&form.DocumentRequired, "document-required", false, "the telco is to upload documents")
	flags.StringVar(&form.AdminName, "admin-name", "", "the admin's name")
	flags.StringVar(&form.AdminEmail, "admin-email", "", "the admin's e-mail address; no other account may have it")
	flags.StringVar(&form.AdminPhone, "admin-phone", "", "the admin's phone number; no other account may have it")
	flags.StringVar(&form.IdempotencyKey, "idempotency-key", "", "names this registration, so that sending it again creates nothing")
	required(cmd, "name", "cac", "admin-name", "admin-email", "admin-phone")
	r.tokenFlags(cmd)
	r.passwordFlag(cmd)
	asJSON := jsonFlag(cmd)
	cmd.RunE = r.run(func(ctx context.Context, c *client.Client, _ []string) (err error) {
		if form.AdminPassword, err = r.password(ctx); err != nil {
			return err
		}
		token, err := r.token(ctx, c)
		if err != nil {
			return err
		}
		e, err := c.Onboard(ctx, token, form)
		if err != nil {
			return err
		}
		return r.app.print(*asJSON, e,
			[]string{"entityUid", e.UID}, []string{"entityStatus", e.Status}, []string{"adminUid", e.AdminUID},
			[]string{"isAdminVerified", strconv.FormatBool(e.AdminVerified)}, []string{"message", e.Message})
	})
	return cmd
}

func (r *remote) uploadCommand() *cobra.Command {
	var d client.Document
	cmd := &cobra.Command{
		Use:   "upload FILE",
		Short: "Hand a document in and print its id",
		Long: `Hands a document in, a PDF or an image, and prints its id. - is standard input.

It needs an admin's session, or an access token with the scope document:upload, or a client's id and secret.`,
		Example: "  lineproof api upload certificate.pdf --type CAC_CERTIFICATE --entity 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
		Args:    cobra.ExactArgs(1),
	}
	flags := cmd.Flags()
	flags.StringVar(&d.Type, "type", "", "what the document is, such as CAC_CERTIFICATE")
	flags.StringVar(&d.EntityUID, "entity", "", "entityUid that it belongs to (default: the admin's own, or the one that the token onboarded last)")
	flags.StringVar(&d.IdempotencyKey, "idempotency-key", "", "names this document, so that sending it again creates nothing")
	required(cmd, "type")
	completes(cmd, "type", client.DocumentCACCertificate, client.DocumentCACStatusReport, client.DocumentOperatingLicence, client.DocumentTaxID,
		client.DocumentDataProtectionRegistration, client.DocumentLetterOfAuthorisation, client.DocumentAdminID, client.DocumentOther)
	r.tokenFlags(cmd)
	asJSON := jsonFlag(cmd)
	cmd.RunE = r.run(func(ctx context.Context, c *client.Client, args []string) error {
		token, err := r.token(ctx, c)
		if err != nil {
			return err
		}
		in, _, err := r.app.openInput(args[0])
		if err != nil {
			return fmt.Errorf("open the document: %w", err)
		}
		defer func() { _ = in.Close() }() // nothing was written
		d.Content = in
		if args[0] != "-" {
			d.FileName = filepath.Base(args[0])
		}
		id, err := c.UploadDocument(ctx, token, d)
		if err != nil {
			return err
		}
		return r.app.print(*asJSON, map[string]string{"documentId": id}, []string{id})
	})
	return cmd
}

func (r *remote) loginCommand() *cobra.Command {
	var email, codeFile string
	cmd := &cobra.Command{
		Use:   "login",
		Short: "Log a person in and print the session token",
		Long: `Logs a person in and prints the session token, alone, on standard output. A code of the second factor is asked for on a
terminal where the account has one; without a terminal it is read from --otp-file.`,
		Example: "  export LINEPROOF_API_TOKEN=$(lineproof api login --email ada@telecom.example)",
		Args:    cobra.NoArgs,
	}
	cmd.Flags().StringVar(&email, "email", "", "the person's e-mail address")
	cmd.Flags().StringVar(&codeFile, "otp-file", "", "file whose first line is a code of the second factor, or a recovery code; - is standard input")
	required(cmd, "email")
	r.passwordFlag(cmd)
	asJSON := jsonFlag(cmd)
	cmd.RunE = r.run(func(ctx context.Context, c *client.Client, _ []string) error {
		password, err := r.password(ctx)
		if err != nil {
			return err
		}
		form := client.LoginRequest{Email: email, Password: password}
		if codeFile != "" {
			code, err := r.app.secretFrom(codeFile)
			if err != nil {
				return err
			}
			form.OTP = client.Secret(code.Reveal())
		}
		s, err := c.Login(ctx, form)
		if fd, person := terminal(r.app.env.Stdin); person && needsCode(err) {
			code, failed := r.app.prompt(ctx, fd, "Code of the second factor: ")
			if failed != nil {
				return failed
			}
			form.OTP = client.Secret(code.Reveal())
			s, err = c.Login(ctx, form)
		}
		if err != nil {
			return err
		}
		r.app.note("The session is valid until %s at the latest.", moment(s.ExpiresAt))
		return r.app.print(*asJSON, map[string]any{
			"fullName": s.FullName, "userType": s.UserType, "token": string(s.Token), "expiration": moment(s.ExpiresAt), "isVerified": s.Verified,
		}, []string{string(s.Token)})
	})
	return cmd
}

// needsCode reports whether a login lacks nothing but a code.
func needsCode(err error) bool {
	e, ok := errors.AsType[*client.Error](err)
	return ok && e.Code == client.CodeSecondFactorRequired
}
