package operate

import (
	"strings"

	"github.com/lineproof/lineproof/internal/server/config"
)

// peers reports what the operator lets the service reach without verified TLS.
func (r *report) peers(cfg config.Config) {
	const check = "peers"
	if len(cfg.UnverifiedPeers) == 0 {
		r.ok(check, "other machines are reached only by TLS that verifies them")
		return
	}
	r.warn(check, "LINEPROOF_UNVERIFIED_PEERS lists "+strings.Join(cfg.UnverifiedPeers, ", ")+": who is between the machines reads and changes what they say to each other",
		"let them speak TLS and remove it, or make sure that nobody can be there")
}

// protections reports settings that are allowed and weaken what the service promises.
func (r *report) protections(cfg config.Config) {
	const check = "protections"
	before := len(r.findings)
	if cfg.WeakArgon2() {
		r.warn(check, "LINEPROOF_ARGON2_MEMORY_KIB and LINEPROOF_ARGON2_TIME make passwords cheap to guess", "remove them; the defaults are 19456 and 2")
	}
	if !cfg.StaffSecondFactor {
		r.warn(check, "LINEPROOF_STAFF_SECOND_FACTOR is false: a phished password is enough to act as staff", "remove it")
	}
	if !cfg.SecondFactor {
		r.warn(check, "LINEPROOF_SECOND_FACTOR is false: a phished password is enough to create live keys, change the team and supply lines of an organisation", "remove it")
	}
	if cfg.ScanGuard != "stop" {
		r.warn(check, "LINEPROOF_SCAN_GUARD is "+cfg.ScanGuard+": nothing stops an organisation that reads numbers out", "set it to stop")
	}
	if len(r.findings) == before {
		r.ok(check, "the cost of passwords, two-factor authentication and the guard are at least at their defaults")
	}
}
