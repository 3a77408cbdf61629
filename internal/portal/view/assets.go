package view

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

// AssetPath is where the files are served.
const AssetPath = "/portal/assets/"

//go:embed assets/*.css assets/*.js assets/*.svg
var files embed.FS

var kinds = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

// asset is a file as it is sent.
type asset struct {
	kind         string
	plain, small []byte
}

// addresses has the address of each file, and served what is sent from there. An
// address holds a hash of the file, so that a browser never has to ask again.
var addresses, served = load()

// load reads the files. What it reads is part of the binary, so it panics where
// that is broken.
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
		var small bytes.Buffer
		zip, err := gzip.NewWriterLevel(&small, gzip.BestCompression)
		if err != nil {
			panic(err)
		}
		if _, err := zip.Write(plain); err != nil {
			panic(err)
		}
		if err := zip.Close(); err != nil {
			panic(err)
		}
		name, sum := path.Base(file), sha256.Sum256(plain)
		ext := path.Ext(name)
		address := AssetPath + strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext
		at[name] = address
		by[address] = asset{kind: kinds[ext], plain: plain, small: small.Bytes()}
	}
	return at, by
}

// Asset returns the address of a file. It panics for a file that there is not.
func Asset(name string) string {
	address, ok := addresses[name]
	if !ok {
		panic("view: there is no file " + name)
	}
	return address
}

// ServeAsset sends the file that the address means, and reports whether there is
// one.
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
		body = a.small
	}
	_, _ = w.Write(body) // a browser that has gone needs nothing
	return true
}
