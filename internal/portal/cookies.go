package portal

import (
	"net/http"
	"time"
)

// The cookies. The prefix __Host- makes browsers refuse them from anybody but
// this very host, over TLS, for the whole of it.
const (
	sessionCookie = "__Host-lineproof"
	deviceCookie  = "__Host-lineproof-device"
	flashCookie   = "__Host-lineproof-flash"
	themeCookie   = "__Host-lineproof-theme"
)

// deviceTime is how long a browser keeps what makes it known; the service
// forgets a device that nobody uses for as long.
const deviceTime = 180 * 24 * time.Hour

// cookieOf returns the value of a cookie that came exactly once.
func cookieOf(r *http.Request, name string) string {
	if all := r.CookiesNamed(name); len(all) == 1 {
		return all[0].Value
	}
	return ""
}

// setCookie sets a cookie; no life means until the browser ends, and a negative
// one takes it away.
func setCookie(w http.ResponseWriter, name, value string, life time.Duration) {
	c := &http.Cookie{Name: name, Value: value, Path: "/", Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if life != 0 {
		c.MaxAge = int(life / time.Second)
	}
	http.SetCookie(w, c)
}

func dropCookie(w http.ResponseWriter, name string) { setCookie(w, name, "", -time.Second) }

// themeOf returns the colours that the visitor has chosen.
func themeOf(r *http.Request) string {
	switch t := cookieOf(r, themeCookie); t {
	case "light", "dark":
		return t
	}
	return ""
}
