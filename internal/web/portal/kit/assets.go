package kit

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

// AssetPath is the path below which the asset files are served.
const AssetPath = "/portal/assets/"

//go:embed assets/*.css assets/*.js assets/*.svg
var files embed.FS

var kinds = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

// asset is a file as it is sent: plain, and compressed with gzip.
type asset struct {
	kind           string
	plain, gzipped []byte
}

// addresses maps file names to URL paths, served maps URL paths to files. A path
// contains a hash of the file, so that browsers can cache it without revalidating.
var addresses, served = load()

// load reads the files. They are embedded in the binary, so a failure is a build
// defect and panics.
func load() (map[string]string, map[string]asset) {
	names, err := fs.Glob(files, "assets/*")
	if err != nil {
		panic(err)
	}
	at, by := map[string]string{}, map[string]asset{}
	for _, file := range names {
		plain, err := files.ReadFile(file)
		if err != nil {
			panic(err)
		}
		name := path.Base(file)
		plain = withModule(name, plain)
		var gzipped bytes.Buffer
		zip, err := gzip.NewWriterLevel(&gzipped, gzip.BestCompression)
		if err != nil {
			panic(err)
		}
		if _, err := zip.Write(plain); err != nil {
			panic(err)
		}
		if err := zip.Close(); err != nil {
			panic(err)
		}
		sum := sha256.Sum256(plain)
		ext := path.Ext(name)
		address := AssetPath + strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext
		at[name] = address
		by[address] = asset{kind: kinds[ext], plain: plain, gzipped: gzipped.Bytes()}
	}
	return at, by
}

// Asset returns the URL path of a file. It panics if the file does not exist.
func Asset(name string) string {
	address, ok := addresses[name]
	if !ok {
		panic("kit: no such asset " + name)
	}
	return address
}

// Tokens returns the variables of the style, for other pages of the service that should
// look the same. They stand before the rules.
func Tokens() string {
	tokens, _, found := strings.Cut(string(served[Asset("app.css")].plain), "/* Base */")
	if !found {
		panic("kit: app.css has no end of its variables")
	}
	return tokens
}

// ServeAsset sends the file at the requested path. It reports false if there is
// none.
func ServeAsset(w http.ResponseWriter, r *http.Request) bool {
	a, ok := served[r.URL.Path]
	if !ok {
		return false
	}
	h := w.Header()
	h.Set("Content-Type", a.kind)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Vary", "Accept-Encoding")
	body := a.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = a.gzipped
	}
	_, _ = w.Write(body) // the browser may have closed the connection
	return true
}
