package guide

import (
	"io/fs"
	"net/http"
)

var options = Options{Portal: true, PublicURL: "https://lineproof.example"}

// Build lets a test render the guide from other files.
func Build(files fs.FS) (http.Handler, error) { return build(files, options) }
