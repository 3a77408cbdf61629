package logkey

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"net"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// agentSigner signs with a key that an ssh-agent has.
type agentSigner struct {
	agent  agent.Agent
	key    ssh.PublicKey
	public ed25519.PublicKey
}

func openAgent(ctx context.Context, socket string) (crypto.Signer, func() error, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, nil, fmt.Errorf("logkey: connect to the ssh-agent: %w", err)
	}
	signer, err := onlyKey(agent.NewClient(conn))
	if err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	return signer, conn.Close, nil
}

// onlyKey returns the one Ed25519 key of an agent. With several it would depend on their
// order which one signs.
func onlyKey(a agent.Agent) (*agentSigner, error) {
	keys, err := a.List()
	if err != nil {
		return nil, fmt.Errorf("logkey: list the keys of the ssh-agent: %w", err)
	}
	var found []*agentSigner
	for _, k := range keys {
		parsed, err := ssh.ParsePublicKey(k.Blob)
		if err != nil {
			continue // a kind of key that this program does not know
		}
		if c, ok := parsed.(ssh.CryptoPublicKey); ok {
			if public, ok := c.CryptoPublicKey().(ed25519.PublicKey); ok && parsed.Type() == ssh.KeyAlgoED25519 {
				found = append(found, &agentSigner{a, parsed, public})
			}
		}
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("logkey: the ssh-agent has %d Ed25519 keys, and must have one", len(found))
	}
	return found[0], nil
}

// Public implements crypto.Signer.
func (s *agentSigner) Public() crypto.PublicKey { return s.public }

// Sign implements crypto.Signer.
func (s *agentSigner) Sign(_ io.Reader, message []byte, _ crypto.SignerOpts) ([]byte, error) {
	signature, err := s.agent.Sign(s.key, message)
	if err != nil {
		return nil, fmt.Errorf("logkey: the ssh-agent does not sign: %w", err)
	}
	return signature.Blob, nil
}
