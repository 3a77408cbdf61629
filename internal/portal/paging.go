package portal

import (
	"github.com/lineproof/lineproof/internal/portal/view"
	"github.com/lineproof/lineproof/internal/web"
)

// WindowNote says which rows of a list a page shows, or "" if it shows all.
func WindowNote(w web.Window) string {
	if w.From == 1 && w.To == w.Total {
		return ""
	}
	return view.Count(int64(w.From)) + " to " + view.Count(int64(w.To)) + " of " + view.Count(int64(w.Total))
}
