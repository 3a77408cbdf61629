package httpapi_test

import (
	"os"
	"testing"

	"github.com/lineproof/lineproof/internal/platform/confined"
	"github.com/lineproof/lineproof/internal/platform/pageimage"
)

func TestMain(m *testing.M) {
	confined.Main()
	pageimage.Main() // documents are drawn by a process of their own
	os.Exit(m.Run())
}
