package remote

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/cli/console"
)

func (r *remote) tokenCommand() *cobra.Command {
	var scopes []string
	cmd := &cobra.Command{
		Use:     "token",
		Short:   "Get an access token for a client id and secret",
		Long:    "Gets an access token and prints only the token on standard output.",
		Example: "  export LINEPROOF_API_TOKEN=$(lineproof api token --client-id \"$ID\" --client-secret-file ./secret)",
		Args:    cobra.NoArgs,
	}
	r.clientFlags(cmd)
	cmd.Flags().StringSliceVar(&scopes, "scope", nil, "scope of the token (default: all scopes of the client); may be repeated")
	console.Complete(cmd, "scope", client.ScopeOnboard, client.ScopeUpload, client.ScopeSupply, client.ScopePort, client.ScopeFlag, client.ScopeOrder)
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = r.run(func(ctx context.Context, c *client.Client, _ []string) error {
		t, err := r.newToken(ctx, c, scopes)
		if err != nil {
			return err
		}
		r.Note("The token is valid until %s.", console.FormatTime(t.ExpiresAt))
		return r.Print(*asJSON,
			map[string]any{"token": string(t.AccessToken), "expiration": console.FormatTime(t.ExpiresAt), "scopes": t.Scopes},
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

It needs an access token, or a client id and secret to get one. The admin's password is read like any credential;
if it is not given and standard input is a terminal, the command prompts for it.`,
		Example: `  lineproof api onboard --name 'Example Telecom' --cac RC654321 --admin-name 'Ada Obi' \
    --admin-email ada@telecom.example --admin-phone +2348031230000 --password-file ./password`,
		Args: cobra.NoArgs,
	}
	flags := cmd.Flags()
	flags.StringVar(&form.Name, "name", "", "name of the telco")
	flags.StringVar(&form.CAC, "cac", "", "number in the companies register")
	flags.BoolVar(&form.DocumentRequired, "document-required", false, "the telco must upload documents")
	flags.StringVar(&form.AdminName, "admin-name", "", "name of the admin")
	flags.StringVar(&form.AdminEmail, "admin-email", "", "e-mail address of the admin; no other account may use it")
	flags.StringVar(&form.AdminPhone, "admin-phone", "", "phone number of the admin; no other account may use it")
	flags.StringVar(&form.IdempotencyKey, "idempotency-key", "", "identifies this registration, so that a retry does not create it twice")
	console.Require(cmd, "name", "cac", "admin-name", "admin-email", "admin-phone")
	r.tokenFlags(cmd)
	r.passwordFlag(cmd)
	asJSON := console.JSONFlag(cmd)
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
		return r.Print(*asJSON, e,
			[]string{"entityUid", e.UID}, []string{"entityStatus", e.Status}, []string{"adminUid", e.AdminUID},
			[]string{"isAdminVerified", strconv.FormatBool(e.AdminVerified)}, []string{"message", e.Message})
	})
	return cmd
}

func (r *remote) uploadCommand() *cobra.Command {
	var d client.Document
	cmd := &cobra.Command{
		Use:   "upload FILE",
		Short: "Upload a document and print its id",
		Long: `Uploads a document, a PDF or an image, and prints its id. - is standard input.

It needs an admin's session, an access token with the scope document:upload, or a client id and secret.`,
		Example: "  lineproof api upload certificate.pdf --type CAC_CERTIFICATE --entity 0199d2f4-6a4e-7c11-9b0a-5d1c7a3e2f40",
		Args:    cobra.ExactArgs(1),
	}
	flags := cmd.Flags()
	flags.StringVar(&d.Type, "type", "", "type of the document, such as CAC_CERTIFICATE")
	flags.StringVar(&d.EntityUID, "entity", "", "entityUid of the owner (default: the admin's own entity, or the one that this client onboarded last)")
	flags.StringVar(&d.IdempotencyKey, "idempotency-key", "", "identifies this document, so that a retry does not create it twice")
	console.Require(cmd, "type")
	console.Complete(cmd, "type", client.DocumentCACCertificate, client.DocumentCACStatusReport, client.DocumentOperatingLicence, client.DocumentTaxID,
		client.DocumentDataProtectionRegistration, client.DocumentLetterOfAuthorisation, client.DocumentAdminID, client.DocumentOther)
	r.tokenFlags(cmd)
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = r.run(func(ctx context.Context, c *client.Client, args []string) error {
		token, err := r.token(ctx, c)
		if err != nil {
			return err
		}
		in, _, err := r.OpenInput(args[0])
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
		return r.Print(*asJSON, map[string]string{"documentId": id}, []string{id})
	})
	return cmd
}

func (r *remote) loginCommand() *cobra.Command {
	var email, codeFile string
	cmd := &cobra.Command{
		Use:   "login",
		Short: "Log in and print the session token",
		Long: `Logs a user in and prints only the session token on standard output. If the account uses two-factor authentication, the
command prompts for a code on a terminal; without a terminal the code is read from --otp-file.`,
		Example: "  export LINEPROOF_API_TOKEN=$(lineproof api login --email ada@telecom.example)",
		Args:    cobra.NoArgs,
	}
	cmd.Flags().StringVar(&email, "email", "", "e-mail address of the account")
	cmd.Flags().StringVar(&codeFile, "otp-file", "", "file whose first line is a two-factor code or a recovery code; - is standard input")
	console.Require(cmd, "email")
	r.passwordFlag(cmd)
	asJSON := console.JSONFlag(cmd)
	cmd.RunE = r.run(func(ctx context.Context, c *client.Client, _ []string) error {
		password, err := r.password(ctx)
		if err != nil {
			return err
		}
		form := client.LoginRequest{Email: email, Password: password}
		if codeFile != "" {
			code, err := r.ReadSecret(codeFile)
			if err != nil {
				return err
			}
			form.OTP = client.Secret(code.Reveal())
		}
		s, err := c.Login(ctx, form)
		if fd, interactive := console.Terminal(r.Env.Stdin); interactive && needsCode(err) {
			code, failed := r.Prompt(ctx, fd, "Two-factor code: ")
			if failed != nil {
				return failed
			}
			form.OTP = client.Secret(code.Reveal())
			s, err = c.Login(ctx, form)
		}
		if err != nil {
			return err
		}
		r.Note("The session is valid until %s at the latest.", console.FormatTime(s.ExpiresAt))
		return r.Print(*asJSON, map[string]any{
			"fullName": s.FullName, "userType": s.UserType, "token": string(s.Token), "expiration": console.FormatTime(s.ExpiresAt), "isVerified": s.Verified,
		}, []string{string(s.Token)})
	})
	return cmd
}

// needsCode reports whether a login failed only because the two-factor code is
// missing.
func needsCode(err error) bool {
	e, ok := errors.AsType[*client.Error](err)
	return ok && e.Code == client.CodeSecondFactorRequired
}
