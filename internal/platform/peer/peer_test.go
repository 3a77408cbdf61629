package peer_test

import (
	"errors"
	"testing"

	"github.com/lineproof/lineproof/internal/platform/peer"
)

// What stays on this machine is safe; what leaves it is safe only if every way of the driver
// verifies the certificate and the name of the other machine.
func TestOnlyVerifiedTLSLeavesTheMachine(t *testing.T) {
	t.Parallel()
	type table struct {
		check             func(string) error
		safe, unverified  []string
		malformedExamples []string
	}
	for name, tc := range map[string]table{
		"database": {
			check: peer.CheckDatabase,
			safe: []string{
				"postgres:///lineproof?host=/var/run/postgresql", "host=/run/postgresql dbname=x", "postgres://u@127.0.0.1/d", "postgres://u@localhost/d?sslmode=disable", "postgres://u@[::1]:5433/d",
				"postgres://u@db.example/d?sslmode=verify-full", "host=10.0.0.1,10.0.0.2 dbname=d sslmode=verify-full", "postgres://u@db.example/d?sslmode=require&sslrootcert=system",
			},
			unverified: []string{
				"postgres://u@db.example/d", "postgres://u@db.example/d?sslmode=disable", "postgres://u@db.example/d?sslmode=allow", "postgres://u@db.example/d?sslmode=prefer", "postgres://u@db.example/d?sslmode=require",
				"postgres://u@db.example/d?sslmode=verify-ca", "postgres://u@10.0.0.1/d", "postgres://u@127.0.0.1,10.0.0.1/d", "host=/run/postgresql,db.example dbname=d", "postgres://u@localhost.example/d", "postgres://u@[fd00::1]/d",
			},
			malformedExamples: []string{"postgres://u@db.example/d?sslmode=perhaps", "postgres://u@db.example/d?sslmode=verify-full&sslrootcert=/does/not/exist"},
		},
		"redis": {
			check:      peer.CheckRedis,
			safe:       []string{"redis://127.0.0.1:6379/0", "redis://[::1]/1", "unix:///run/redis.sock", "rediss://:p@redis.example:6379", "rediss://redis.example?skip_verify=false"},
			unverified: []string{"redis://redis.example", "redis://10.0.0.31:6379", "rediss://redis.example?skip_verify=true", "rediss://redis.example?skip_verify=false&skip_verify=1", "rediss://redis.example?skip_verify"},
		},
		"scanner": {
			check:      peer.CheckScanner,
			safe:       []string{"unix:/run/clamav/clamd.ctl", "127.0.0.1:3310", "[::1]:3310", "localhost:3310"},
			unverified: []string{"scanner:3310", "10.0.0.4:3310", ":3310"},
		},
		"http": {
			check:      peer.CheckHTTP,
			safe:       []string{"http://127.0.0.1:4318", "https://traces.example"},
			unverified: []string{"http://traces.example", "http://127.0.0.1.example:4318"},
		},
	} {
		for _, address := range tc.safe {
			if err := tc.check(address); err != nil {
				t.Errorf("%s: %s: %v, want it to be safe", name, address, err)
			}
		}
		for _, address := range tc.unverified {
			if err := tc.check(address); !errors.Is(err, peer.ErrUnverified) {
				t.Errorf("%s: %s: %v, want ErrUnverified", name, address, err)
			}
		}
		for _, address := range tc.malformedExamples {
			if err := tc.check(address); !errors.Is(err, peer.ErrMalformed) {
				t.Errorf("%s: %s: %v, want ErrMalformed", name, address, err)
			}
		}
	}
}
