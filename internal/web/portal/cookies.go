package portal

import (
	"net/http"
	"time"

	"github.com/lineproof/lineproof/internal/web/portal/kit"
)

// The cookies. The prefix __Host- makes browsers accept them only from this host,
// over TLS, and for all its paths.
const (
	sessionCookie = "__Host-lineproof"
	deviceCookie  = "__Host-lineproof-device"
	flashCookie   = "__Host-lineproof-flash"
	themeCookie   = kit.ThemeCookie
)

// deviceLifetime is how long a browser keeps the cookie by which it is recognised.
// The service deletes a device that was not used for as long.
const deviceLifetime = 180 * 24 * time.Hour

// cookieOf returns the value of a cookie that was sent exactly once.
func cookieOf(r *http.Request, name string) string {
	if all := r.CookiesNamed(name); len(all) == 1 {
		return all[0].Value
	}
	return ""
}

// setCookie sets a cookie. A lifetime of zero means until the browser is closed; a
// negative one deletes the cookie.
func setCookie(w http.ResponseWriter, name, value string, lifetime time.Duration) {
	c := &http.Cookie{Name: name, Value: value, Path: "/", Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if lifetime != 0 {
		c.MaxAge = int(lifetime / time.Second)
	}
	http.SetCookie(w, c)
}

func dropCookie(w http.ResponseWriter, name string) { setCookie(w, name, "", -time.Second) }
