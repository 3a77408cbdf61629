// Package repository_test holds the tests of the checkout as a whole: the plan of the
// packages, the documents and whether they can be followed, the deployment files, the
// dependencies and the words.
package repository_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// The checkout. The tests open files by it, and so by whole paths: go test keeps a result
// until a file changes that was opened, and it does not notice that TestMain goes to the root.
var (
	root     string
	checkout fs.FS
)

// The tests run at the root of the checkout.
func TestMain(m *testing.M) {
	if err := enter(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func enter() (err error) {
	if root, err = filepath.Abs("../../.."); err != nil {
		return err
	}
	checkout = os.DirFS(root)
	text, err := fs.ReadFile(checkout, "internal/plan.txt")
	if err != nil {
		return err
	}
	plan = parsePlan(string(text))
	return os.Chdir(root)
}

// whole returns the whole path of a file of the checkout.
func whole(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(root, path)
}
