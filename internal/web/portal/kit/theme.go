package kit

import "net/http"

// ThemeCookie is the cookie that remembers the theme that a visitor has chosen.
const ThemeCookie = "__Host-lineproof-theme"

// ThemeOf returns the theme that the visitor has chosen; "" is the system's.
func ThemeOf(r *http.Request) string {
	if all := r.CookiesNamed(ThemeCookie); len(all) == 1 && (all[0].Value == "light" || all[0].Value == "dark") {
		return all[0].Value
	}
	return ""
}
