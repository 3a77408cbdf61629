// Package docs holds the documentation, so that the binary can serve it without files
// beside it. Package guide renders it.
package docs

import "embed"

// Files are the pages and their pictures, by their paths below docs/.
//
//go:embed *.md */*.md */*/*.md */pictures/*.png
var Files embed.FS
