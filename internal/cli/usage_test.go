package cli_test

import (
	"strings"
	"testing"

	"github.com/lineproof/lineproof/internal/testing/pgtest"
)

// A wrong command line is exit code 2, prints no data and reports the mistake.
func TestWrongCommandLines(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"migrat":                               "migrate",
		"migrate twice":                        `unknown command "twice"`,
		"client":                               "needs a command: create, list, resume, revoke, secret, suspend",
		"client remove":                        "it has: create, list, resume, revoke, secret, suspend",
		"client create":                        "required flag",
		"client create --nam x":                "unknown flag",
		"client revoke nonsense":               "ID is not a UUID",
		"client revoke":                        "accepts 1 arg",
		"key create --entity 5 --name x":       "--entity is not a UUID",
		"key create --entity 5 --expires soon": "--expires",
		"key create --name x --expires -1h --entity 0199d2f4-6a4e-7c11-9b00-5d1c7a3e2f40": "--expires must be at least 1s",
		"journal get nonsense --reason x":                                                 "REQUEST_ID is not a UUID",
		"documents":                                                                       "needs a command: check, delete, hold, list, release, rescan, show",
		"documents show 7":                                                                "DOCUMENT is not a UUID",
		"documents hold 7 --reason x":                                                     "DOCUMENT is not a UUID",
		"documents list --state burnt":                                                    "--state must be one of: received",
		"documents list --entity 7":                                                       "--entity is not a UUID",
		"guard release --entity= --reason x":                                              "--entity is not a UUID",
		"completion tcsh":                                                                 "tcsh",
		"api verify":                                                                      "accepts 1 arg",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			stdout, stderr := machine{t: t}.run(2, nil, strings.Fields(line)...)
			if stdout != "" || !strings.Contains(stderr, want) || !strings.Contains(stderr, " --help\n") {
				t.Errorf("printed %q and reported:\n%s", stdout, stderr)
			}
		})
	}
}

// Help and the completion of all four shells go to standard output. The shell
// offers the values of flags that accept a fixed set of values.
func TestHelpAndCompletion(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"":                                  "lineproof config",
		"client --help":                     "create",
		"version --json":                    `"schema": `,
		"completion bash":                   "bash completion",
		"completion zsh":                    "#compdef lineproof",
		"completion fish":                   "complete -c lineproof",
		"completion powershell":             "Register-ArgumentCompleter",
		"__complete client create --scope ": "entity:onboard\n",
		"__complete staff create --role ":   "auditor\n",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			args := strings.Split(line, " ") // a space at the end is an empty argument, which the shell sends
			if line == "" {
				args = nil
			}
			stdout, _ := machine{t: t}.run(0, nil, args...)
			if !strings.Contains(stdout, want) {
				t.Errorf("printed:\n%.400s", stdout)
			}
		})
	}
}

// A request that the service's rules refuse is exit code 5, with a line for every
// wrong field and without the values that were given.
func TestRefusalsNameEveryField(t *testing.T) {
	t.Parallel()
	m := machine{t, []string{
		"LINEPROOF_DATABASE_URL=" + pgtest.URL(t), "LINEPROOF_DATA=" + t.TempDir(), "LINEPROOF_ARGON2_MEMORY_KIB=64", "LINEPROOF_ARGON2_TIME=1",
	}}
	entity, _ := m.run(0, nil, "entity", "create", "--name", "Harbour Bank", "--cac", "RC123456")
	entity = strings.TrimSpace(entity)
	const nobody = "00000000-0000-7000-8000-000000000000"
	for _, tc := range []struct {
		args []string
		want []string
	}{
		{[]string{"client", "create", "--name", " ", "--scope", "canary:eat"}, []string{"\n  name: ", "\n  scope: The scopes are: entity:onboard, "}},
		{[]string{"client", "create", "--name", "x", "--scope", "line:supply"}, []string{"\n  network: "}},
		{[]string{"client", "revoke", nobody}, []string{"lineproof: There is no such client"}},
		{[]string{"entity", "create", "--name", "x", "--cac", "!canary"}, []string{"\n  cac: "}},
		{[]string{"key", "create", "--entity", nobody, "--name", "x"}, []string{"no entity with this id"}},
		{[]string{"key", "create", "--entity", entity, "--name", " "}, []string{"\n  name: "}},
		// Standard input is empty here, so there is no password.
		{[]string{"staff", "create", "--name", "x", "--email", "canary", "--role", "king"}, []string{"\n  email: ", "\n  role: ", "\n  password: "}},
		{[]string{"journal", "get", nobody, "--reason", "short"}, []string{"\n  reason: "}},
		{[]string{"journal", "get", nobody, "--reason", "Complaint 2026/114"}, []string{"no record"}},
	} {
		_, stderr := m.run(5, nil, tc.args...)
		for _, want := range tc.want {
			if !strings.Contains(stderr, want) {
				t.Errorf("lineproof %s: the error lacks %q:\n%s", strings.Join(tc.args, " "), want, stderr)
			}
		}
		if strings.Contains(stderr, "canary") {
			t.Errorf("lineproof %s: the error repeats the given value:\n%s", strings.Join(tc.args, " "), stderr)
		}
	}
}
