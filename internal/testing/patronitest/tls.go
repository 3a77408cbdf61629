package patronitest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/lineproof/lineproof/internal/testing/process"
)

// makeScript is that of docs/how-to/high-availability.md, for the one address of all machines.
const makeScript = `set -e
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj '/CN=Lineproof databases' -keyout authority.key -out authority.crt
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=db-1 -keyout server.key -out server.csr
printf 'subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=serverAuth,clientAuth\n' >extensions
openssl x509 -req -days 1 -in server.csr -CA authority.crt -CAkey authority.key -set_serial 1 -extfile extensions -out server.crt
rm authority.key
chmod 600 server.key`

// makeCertificates creates the certificate of the machines. All are one here, and so have one.
func (c *Cluster) makeCertificates(ctx context.Context) (err error) {
	if c.tls, err = os.MkdirTemp("", "lineproof-tls-"); err != nil {
		return fmt.Errorf("patronitest: %w", err)
	}
	script := exec.CommandContext(ctx, "sh", "-c", makeScript)
	script.Dir = c.tls
	if out, err := script.CombinedOutput(); err != nil {
		return fmt.Errorf("patronitest: create certificates: %w\n%s", err, out)
	}
	_, err = process.As("postgres", c.tls, c.file("server.key"), c.file("server.crt"), c.file("authority.crt"))
	return err
}

func (c *Cluster) file(name string) string { return filepath.Join(c.tls, name) }

// query is the part of a database url that lets the driver verify the members.
func (c *Cluster) query() string {
	return "sslmode=verify-full&sslrootcert=" + url.QueryEscape(c.file("authority.crt"))
}

// client talks to Patroni with the certificate of a machine.
func (c *Cluster) client(timeout time.Duration) *http.Client {
	pool := x509.NewCertPool()
	authority, _ := os.ReadFile(c.file("authority.crt"))
	pool.AppendCertsFromPEM(authority)
	own, _ := tls.LoadX509KeyPair(c.file("server.crt"), c.file("server.key"))
	return &http.Client{Timeout: timeout, Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS12},
	}}
}
