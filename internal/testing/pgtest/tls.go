package pgtest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"time"
)

// StartTLS is [Start] for a quick server that also speaks TLS, with a certificate for a host
// name. Authority is the file with the certificate of who signed it.
func StartTLS(ctx context.Context, name string) (c *Cluster, authority string, err error) {
	c, err = Start(ctx, Quick)
	if err != nil {
		return nil, "", err
	}
	if authority, err = c.writeCertificate(name); err == nil {
		err = c.appendConfig("ssl = on\n")
	}
	if err == nil {
		err = errors.Join(c.Kill(), c.Start(ctx))
	}
	if err != nil {
		c.Stop()
		return nil, "", err
	}
	return c, authority, nil
}

// writeCertificate writes server.crt and server.key into PGDATA, and the authority beside it.
func (c *Cluster) writeCertificate(name string) (authority string, err error) {
	signer, err1 := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	key, err2 := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err := errors.Join(err1, err2); err != nil {
		return "", fmt.Errorf("pgtest: a key: %w", err)
	}
	begin, end := time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	root := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority of a test"}, NotBefore: begin, NotAfter: end, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotBefore: begin, NotAfter: end, KeyUsage: x509.KeyUsageDigitalSignature}
	rootDER, err1 := x509.CreateCertificate(rand.Reader, root, root, signer.Public(), signer)
	leafDER, err2 := x509.CreateCertificate(rand.Reader, leaf, root, key.Public(), signer)
	keyDER, err3 := x509.MarshalPKCS8PrivateKey(key)
	if err := errors.Join(err1, err2, err3); err != nil {
		return "", fmt.Errorf("pgtest: a certificate: %w", err)
	}
	authority = filepath.Join(c.dir, "authority.crt")
	for path, block := range map[string]*pem.Block{
		authority:                           {Type: "CERTIFICATE", Bytes: rootDER},
		filepath.Join(c.data, "server.crt"): {Type: "CERTIFICATE", Bytes: leafDER},
		filepath.Join(c.data, "server.key"): {Type: "PRIVATE KEY", Bytes: keyDER},
	} {
		err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600)
		if err == nil && c.user != nil {
			err = os.Chown(path, int(c.user.Uid), int(c.user.Gid))
		}
		if err != nil {
			return "", fmt.Errorf("pgtest: write a certificate: %w", err)
		}
	}
	return authority, nil
}
