package cli

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/config"
	"github.com/lineproof/lineproof/internal/secret"
	"github.com/lineproof/lineproof/internal/telemetry"
)

// apiPrefix begins the variables of the remote commands.
const apiPrefix = "LINEPROOF_API_"

// apiVariables are the variables of the remote commands, for the help and the
// reference.
var apiVariables = []struct{ name, meaning string }{
	{"LINEPROOF_API_URL", "where the service answers, unless --url says"},
	{"LINEPROOF_API_KEY", "the API key for verify, unless --key-file says"},
	{"LINEPROOF_API_TOKEN", "the access token or session for onboard, upload, documents and lines, unless --token-file says"},
	{"LINEPROOF_API_CLIENT_ID", "the client's id, unless --client-id says"},
	{"LINEPROOF_API_CLIENT_SECRET", "the client's secret, unless --client-secret-file says"},
	{"LINEPROOF_API_PASSWORD", "the password for login and onboard, unless --password-file says"},
}

func (a *app) apiCommand() *cobra.Command {
	var b strings.Builder
	b.WriteString(`Calls the API of a running service. These commands need no database and read none of the service's settings.

Credentials are read from files that flags name, or from the environment, and are never arguments, where other
users of the machine could read them. The variables:

`)
	for _, v := range apiVariables {
		b.WriteString("  " + v.name + strings.Repeat(" ", max(1, 29-len(v.name))) + v.meaning + "\n")
	}
	cmd := &cobra.Command{
		Use:   "api",
		Short: "Call the API of a running service",
		Long:  strings.TrimRight(b.String(), "\n"),
		Example: `  export LINEPROOF_API_URL=https://lineproof.example
  LINEPROOF_API_KEY=$(cat key.txt) lineproof api verify 08031234567`,
	}
	r := &remote{app: a}
	cmd.PersistentFlags().StringVar(&r.url, "url", "", "where the service answers (default: LINEPROOF_API_URL, or http://127.0.0.1:8080)")
	cmd.AddCommand(r.tokenCommand(), r.onboardCommand(), r.uploadCommand(), r.documentsCommand(), r.loginCommand(), r.verifyCommand(), r.linesCommand())
	return cmd
}

// remote is what the remote commands share.
type remote struct {
	app *app

	url                                     string
	clientID                                string
	keyFile, tokenFile, secretFile, pwdFile string
}

// run makes fn the work of a remote command. A failure to get an answer is told
// from a database that is away.
func (r *remote) run(fn func(ctx context.Context, c *client.Client, args []string) error) func(*cobra.Command, []string) error {
	return r.app.run(func(cmd *cobra.Command, args []string) error {
		if err := r.checkVariables(); err != nil {
			return err
		}
		c := &client.Client{
			BaseURL:   cmp.Or(r.url, r.getenv("LINEPROOF_API_URL"), "http://127.0.0.1:8080"),
			UserAgent: "lineproof/" + telemetry.Version(),
		}
		if err := fn(cmd.Context(), c, args); err != nil {
			return &remoteError{err}
		}
		return nil
	})
}

// checkVariables complains about variables of ours that mean nothing, for one
// that is misspelt would be missed in silence.
func (r *remote) checkVariables() error {
	var complaints []string
	for _, entry := range r.app.env.Environ {
		name, _, _ := strings.Cut(entry, "=")
		known := slices.ContainsFunc(apiVariables, func(v struct{ name, meaning string }) bool { return v.name == name })
		if strings.HasPrefix(name, apiPrefix) && !known {
			complaints = append(complaints, "unknown variable "+name+": remove it; lineproof api --help lists all of them")
		}
	}
	if len(complaints) > 0 {
		return &config.Error{Complaints: complaints}
	}
	return nil
}

func (r *remote) getenv(name string) string {
	for _, entry := range slices.Backward(r.app.env.Environ) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// credential reads a secret from the file, or else from the variable.
func (r *remote) credential(file, variable, flag string) (client.Secret, error) {
	text := secret.Text(r.getenv(variable))
	if file != "" {
		var err error
		if text, err = r.app.secretFrom(file); err != nil {
			return "", err
		}
	}
	if text == "" {
		return "", usagef("give a credential: set %s, or name a file with --%s", variable, flag)
	}
	return client.Secret(text.Reveal()), nil
}

// password reads a password like a credential, and else asks for it.
func (r *remote) password(ctx context.Context) (client.Secret, error) {
	if r.pwdFile == "" && r.getenv("LINEPROOF_API_PASSWORD") == "" {
		if fd, person := terminal(r.app.env.Stdin); person {
			text, err := r.app.prompt(ctx, fd, "Password: ")
			return client.Secret(text.Reveal()), err
		}
	}
	return r.credential(r.pwdFile, "LINEPROOF_API_PASSWORD", "password-file")
}

// token returns the access token that was given, or gets one for the client's
// id and secret.
func (r *remote) token(ctx context.Context, c *client.Client) (client.Secret, error) {
	if r.tokenFile != "" || r.getenv("LINEPROOF_API_TOKEN") != "" {
		return r.credential(r.tokenFile, "LINEPROOF_API_TOKEN", "token-file")
	}
	got, err := r.newToken(ctx, c, nil)
	if _, ok := errors.AsType[*usageError](err); ok {
		return "", usagef("give a credential: LINEPROOF_API_TOKEN or --token-file, or a client's id and secret")
	}
	if err != nil {
		return "", err
	}
	return got.AccessToken, nil
}

// newToken buys an access token with the client's id and secret.
func (r *remote) newToken(ctx context.Context, c *client.Client, scopes []string) (*client.Token, error) {
	id := cmp.Or(r.clientID, r.getenv("LINEPROOF_API_CLIENT_ID"))
	if id == "" {
		return nil, usagef("give the client's id: set LINEPROOF_API_CLIENT_ID or --client-id")
	}
	text, err := r.credential(r.secretFile, "LINEPROOF_API_CLIENT_SECRET", "client-secret-file")
	if err != nil {
		return nil, err
	}
	return c.Token(ctx, client.Credentials{ID: id, Secret: text, Scopes: scopes})
}

// clientFlags gives a command the flags that name a client.
func (r *remote) clientFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.clientID, "client-id", "", "the client's id")
	cmd.Flags().StringVar(&r.secretFile, "client-secret-file", "", "file whose first line is the client's secret; - is standard input")
}

// tokenFlags gives a command the flags that lead to an access token.
func (r *remote) tokenFlags(cmd *cobra.Command) {
	r.clientFlags(cmd)
	cmd.Flags().StringVar(&r.tokenFile, "token-file", "", "file whose first line is the access token or session; - is standard input")
}

func (r *remote) passwordFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.pwdFile, "password-file", "", "file whose first line is the password; - is standard input")
}
