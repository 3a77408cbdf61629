// Package remote has the commands that call the API of a running service. They
// need no database and none of the service's settings.
package remote

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lineproof/lineproof/client"
	"github.com/lineproof/lineproof/internal/cli/console"
	"github.com/lineproof/lineproof/internal/platform/telemetry"
	"github.com/lineproof/lineproof/internal/server/config"
	"github.com/lineproof/lineproof/internal/values/secret"
)

// Variable is an environment variable of the api commands.
type Variable struct{ Name, Meaning string }

// Variables are the variables of the api commands, for the help and the
// reference.
var Variables = []Variable{
	{"LINEPROOF_API_URL", "base URL of the service, unless --url is given"},
	{"LINEPROOF_API_KEY", "API key for verify, unless --key-file is given"},
	{"LINEPROOF_API_TOKEN", "access token or session for onboard, upload, documents and lines, unless --token-file is given"},
	{"LINEPROOF_API_CLIENT_ID", "client id, unless --client-id is given"},
	{"LINEPROOF_API_CLIENT_SECRET", "client secret, unless --client-secret-file is given"},
	{"LINEPROOF_API_PASSWORD", "password for login and onboard, unless --password-file is given"},
}

// Command returns the command "api".
func Command(c *console.Console) *cobra.Command {
	var b strings.Builder
	b.WriteString(`Calls the API of a running service. These commands need no database and read none of the service's settings.

Credentials are read from files named by flags, or from the environment. They are never arguments, where other
users of the machine could read them. The variables:

`)
	for _, v := range Variables {
		b.WriteString("  " + v.Name + strings.Repeat(" ", max(1, 29-len(v.Name))) + v.Meaning + "\n")
	}
	cmd := &cobra.Command{
		Use:   "api",
		Short: "Call the API of a running service",
		Long:  strings.TrimRight(b.String(), "\n"),
		Example: `  export LINEPROOF_API_URL=https://lineproof.example
  LINEPROOF_API_KEY=$(cat key.txt) lineproof api verify 08031234567`,
	}
	r := &remote{Console: c}
	cmd.PersistentFlags().StringVar(&r.url, "url", "", "base URL of the service (default: LINEPROOF_API_URL, or http://127.0.0.1:8080)")
	cmd.AddCommand(r.tokenCommand(), r.onboardCommand(), r.uploadCommand(), r.documentsCommand(), r.loginCommand(), r.verifyCommand(), r.batchCommand(), r.receiptCommand(), r.budgetsCommand(), r.linesCommand(),
		r.jobsCommand(), r.watchCommand(), r.feedCommand(), r.webhooksCommand())
	return cmd
}

// remote is the connection that the api commands share.
type remote struct {
	*console.Console

	url                                     string
	clientID                                string
	keyFile, tokenFile, secretFile, pwdFile string
}

// run wraps the function of an api command. Its errors become a
// [console.RemoteError], so that a service that cannot be reached is not
// reported as a database that is unavailable.
func (r *remote) run(fn func(ctx context.Context, c *client.Client, args []string) error) func(*cobra.Command, []string) error {
	return r.Run(func(cmd *cobra.Command, args []string) error {
		if err := r.checkVariables(); err != nil {
			return err
		}
		c := &client.Client{
			BaseURL:   cmp.Or(r.url, r.getenv("LINEPROOF_API_URL"), "http://127.0.0.1:8080"),
			UserAgent: "lineproof/" + telemetry.Version(),
		}
		if err := fn(cmd.Context(), c, args); err != nil {
			return &console.RemoteError{Err: err}
		}
		return nil
	})
}

// withToken gives a command the flags of an access token, and runs fn with the
// token.
func (r *remote) withToken(cmd *cobra.Command, fn func(ctx context.Context, c *client.Client, token client.Secret, args []string) error) {
	r.tokenFlags(cmd)
	cmd.RunE = r.run(func(ctx context.Context, c *client.Client, args []string) error {
		token, err := r.token(ctx, c)
		if err != nil {
			return err
		}
		return fn(ctx, c, token, args)
	})
}

// checkVariables reports unknown variables with our prefix: a misspelt variable
// would otherwise be ignored without a word.
func (r *remote) checkVariables() error {
	var complaints []string
	for _, entry := range r.Env.Environ {
		name, _, _ := strings.Cut(entry, "=")
		known := slices.ContainsFunc(Variables, func(v Variable) bool { return v.Name == name })
		if strings.HasPrefix(name, console.APIPrefix) && !known {
			complaints = append(complaints, "unknown variable "+name+": remove it; lineproof api --help lists the known ones")
		}
	}
	if len(complaints) > 0 {
		return &config.Error{Problems: complaints}
	}
	return nil
}

func (r *remote) getenv(name string) string {
	for _, entry := range slices.Backward(r.Env.Environ) {
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
		if text, err = r.ReadSecret(file); err != nil {
			return "", err
		}
	}
	if text == "" {
		return "", console.Usagef("a credential is missing: set %s, or name a file with --%s", variable, flag)
	}
	return client.Secret(text.Reveal()), nil
}

// password reads a password like a credential, or else prompts for it on a
// terminal.
func (r *remote) password(ctx context.Context) (client.Secret, error) {
	if r.pwdFile == "" && r.getenv("LINEPROOF_API_PASSWORD") == "" {
		if fd, interactive := console.Terminal(r.Env.Stdin); interactive {
			text, err := r.Prompt(ctx, fd, "Password: ")
			return client.Secret(text.Reveal()), err
		}
	}
	return r.credential(r.pwdFile, "LINEPROOF_API_PASSWORD", "password-file")
}

// token returns the access token that was given, or gets one with the client's
// id and secret.
func (r *remote) token(ctx context.Context, c *client.Client) (client.Secret, error) {
	if r.tokenFile != "" || r.getenv("LINEPROOF_API_TOKEN") != "" {
		return r.credential(r.tokenFile, "LINEPROOF_API_TOKEN", "token-file")
	}
	got, err := r.newToken(ctx, c, nil)
	if _, ok := errors.AsType[*console.UsageError](err); ok {
		return "", console.Usagef("a credential is missing: give LINEPROOF_API_TOKEN or --token-file, or a client id and secret")
	}
	if err != nil {
		return "", err
	}
	return got.AccessToken, nil
}

// newToken requests an access token with the client's id and secret.
func (r *remote) newToken(ctx context.Context, c *client.Client, scopes []string) (*client.Token, error) {
	id := cmp.Or(r.clientID, r.getenv("LINEPROOF_API_CLIENT_ID"))
	if id == "" {
		return nil, console.Usagef("the client id is missing: set LINEPROOF_API_CLIENT_ID or --client-id")
	}
	text, err := r.credential(r.secretFile, "LINEPROOF_API_CLIENT_SECRET", "client-secret-file")
	if err != nil {
		return nil, err
	}
	return c.Token(ctx, client.Credentials{ID: id, Secret: text, Scopes: scopes})
}

// clientFlags adds the flags with a client's credentials.
func (r *remote) clientFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.clientID, "client-id", "", "client id")
	cmd.Flags().StringVar(&r.secretFile, "client-secret-file", "", "file whose first line is the client secret; - is standard input")
}

// tokenFlags adds the flags with an access token, or with the credentials to
// get one.
func (r *remote) tokenFlags(cmd *cobra.Command) {
	r.clientFlags(cmd)
	cmd.Flags().StringVar(&r.tokenFile, "token-file", "", "file whose first line is the access token or session; - is standard input")
}

func (r *remote) passwordFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.pwdFile, "password-file", "", "file whose first line is the password; - is standard input")
}
