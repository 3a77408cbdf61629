// Package portal serves the pages for people: those of an organisation, and the
// regulator's staff.
//
// It holds no rules of its own. A handler reads the request, calls one method of
// a domain package, and shows what came of it; the same methods stand behind the
// API. Every request takes the same steps: it is given an id and a line in the
// log, the route table names who may open it, the door checks that, the handler
// serves and returns an error, and one place makes a page of the error.
//
// What it promises:
//
//   - A page that somebody may not see does not exist for them: what belongs to
//     another organisation is 404, as an id that was made up is.
//   - Nothing that changes anything is done by GET, or at the wish of another
//     site.
//   - Everything works without scripts. With them it is more comfortable.
//   - The session lies in a cookie that no script and no other site can read. No
//     page is kept by a browser or a proxy.
//
// A page is a row of the route table, a handler, and a templ component:
//
//	{method: http.MethodGet, path: "/portal/hello", who: entity, serve: p.showHello},
//
//	func (p *Portal) showHello(w http.ResponseWriter, r *http.Request) error {
//		v := visitOf(r)
//		e, err := p.Registry.Entity(r.Context(), v.who.Entity)
//		if err != nil {
//			return err
//		}
//		return p.show(w, r, view.Page{Title: "Hello"}, view.Hello(view.HelloData{Name: e.Name}))
//	}
//
// A form is a second row with POST on the same path. What is wrong with it is
// shown beside its fields, and success ends in another page:
//
//	func (p *Portal) sayHello(w http.ResponseWriter, r *http.Request) error {
//		v := visitOf(r)
//		err := p.Domain.Say(r.Context(), r.PostFormValue("word"), v.who.Actor(), v.id)
//		if form, wrong := formOf(r, err); wrong {
//			return p.showAgain(w, r, err, view.Page{Title: "Hello"}, view.Hello(view.HelloData{Form: form}))
//		}
//		if err != nil {
//			return err
//		}
//		return p.goOn(w, r, "/portal/hello", "hello.said")
//	}
//
// The message "hello.said" stands in the table of flash.go. An entry of the menu
// is a row of menu.go; it is shown where its page exists and the visitor may
// open it.
package portal
