package nodes

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

// Mark writes a random text into a file of the node in dir, and returns it. A node that finds
// the text there has the same directory, and not a copy of it from before.
func Mark(dir, node string) (string, error) {
	text := rand.Text()
	if err := os.WriteFile(markOf(dir, node), []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("nodes: mark the directory: %w", err)
	}
	return text, nil
}

// Marked returns what the node wrote into dir last, or "".
func Marked(dir, node string) string {
	text, err := os.ReadFile(markOf(dir, node))
	if err != nil {
		return ""
	}
	return string(text)
}

// markOf returns the path of the file of a node, whatever characters its name has.
func markOf(dir, node string) string {
	sum := sha256.Sum256([]byte(node))
	return filepath.Join(dir, "node-"+hex.EncodeToString(sum[:8]))
}
