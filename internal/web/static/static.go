// Package static serves content that is part of the binary: compressed for clients that
// accept gzip, and revalidated by an entity tag, so that a new release shows at once.
package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// File serves content. It is compressed at the first request that accepts gzip, and once.
func File(contentType string, content []byte) http.Handler {
	asIs := tagged(contentType, content)
	compressed := sync.OnceValue(func() http.Handler { return tagged(contentType, pack(content)) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept-Encoding")
		if acceptsGzip(r) {
			sendPacked(w, r, compressed())
			return
		}
		asIs.ServeHTTP(w, r)
	})
}

// Picture serves content that gzip makes no smaller.
func Picture(contentType string, content []byte) http.Handler { return tagged(contentType, content) }

func pack(content []byte) []byte {
	var packed bytes.Buffer
	zip, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, err = zip.Write(content)
	}
	if err == nil {
		err = zip.Close()
	}
	if err != nil {
		panic(err) // nothing can fail in memory
	}
	return packed.Bytes()
}

func sendPacked(w http.ResponseWriter, r *http.Request, packed http.Handler) {
	w.Header().Set("Content-Encoding", "gzip")
	r.Header.Del("Range") // a range of a compressed file cannot be decompressed
	packed.ServeHTTP(w, r)
}

// tagged serves content. Browsers cache it but revalidate it each time.
func tagged(contentType string, content []byte) http.Handler {
	tag := entityTag(content, "")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("ETag", tag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	})
}

// Packed serves content that is stored with gzip: as it is to clients that accept
// gzip, decompressed to others.
func Packed(contentType string, packed []byte) http.Handler {
	asIs := tagged(contentType, packed)
	plainTag := entityTag(packed, "plain")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Vary", "Accept-Encoding")
		if acceptsGzip(r) {
			sendPacked(w, r, asIs)
			return
		}
		h.Set("Content-Type", contentType)
		h.Set("Cache-Control", "no-cache")
		h.Set("ETag", plainTag)
		if r.Header.Get("If-None-Match") == plainTag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		if r.Method == http.MethodHead {
			return
		}
		unpacked, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			http.Error(w, "Internal error: the file cannot be read.", http.StatusInternalServerError)
			return
		}
		_, _ = io.Copy(w, unpacked) //nolint:gosec // the size is that of a vendored asset, not of anything sent
	})
}

func entityTag(content []byte, variant string) string {
	sum := sha256.Sum256(content)
	return `"` + hex.EncodeToString(sum[:8]) + variant + `"`
}

// acceptsGzip reports whether the client accepts gzip. A weight of zero means that
// it does not.
func acceptsGzip(r *http.Request) bool {
	for offer := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(offer, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			weight = strings.ReplaceAll(weight, " ", "")
			return strings.Trim(strings.TrimPrefix(weight, "q="), "0.") != "" || weight == ""
		}
	}
	return false
}
