package portal

import (
	"github.com/lineproof/lineproof/internal/web"
	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// WindowNote says which rows of a list a page shows, or "" if it shows all.
func WindowNote(w web.Window) string {
	if w.From == 1 && w.To == w.Total {
		return ""
	}
	return kit.Count(int64(w.From)) + " to " + kit.Count(int64(w.To)) + " of " + kit.Count(int64(w.Total))
}
