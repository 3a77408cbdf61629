// Package portal is the shell of the pages for people: routes, sign-in, sessions,
// rights, menu, layout, forms, errors and the request log. The pages themselves
// are in the packages below it:
//
//   - org: the pages of organisations (keys, journal, documents, team),
//   - telco: the pages of organisations that supply lines,
//   - desk: the pages of the regulator's staff,
//   - present: what these have in common, such as the rows of a list of keys,
//   - view: the HTML, as templ components over plain structs.
//
// The portal has no business rules of its own. A handler reads the request, calls
// one method of a domain package and shows the result; the API calls the same
// methods. Every request takes the same steps: it gets an id and a log line, the
// route table names the right that it needs, authorize checks the right, the
// handler returns an error or nil, and one place turns an error into a page.
//
// Guarantees:
//
//   - A page that a visitor may not see does not exist for them: what belongs to
//     another organisation is 404, as is an id that was made up.
//   - Nothing is changed by GET, or by a request from another site.
//   - Everything works without scripts. With them it is more comfortable.
//   - The session is in a cookie that no script and no other site can read. No
//     browser and no proxy caches a page.
//
// A page is a row of a route table, a handler, and a templ component:
//
//	{Method: http.MethodGet, Path: "/portal/hello", Right: portal.OrgMember, Serve: p.showHello},
//
//	func (p *Pages) showHello(w http.ResponseWriter, r *http.Request) error {
//		v := portal.VisitOf(r)
//		e, err := p.Registry.Entity(r.Context(), v.Who.Entity)
//		if err != nil {
//			return err
//		}
//		return p.Show(w, r, view.Page{Title: "Hello"}, orgview.Hello(orgview.HelloData{Name: e.Name}))
//	}
//
// A form is a second row with POST on the same path. Its errors are shown at its
// fields, and success redirects to another page:
//
//	func (p *Pages) sayHello(w http.ResponseWriter, r *http.Request) error {
//		v := portal.VisitOf(r)
//		err := p.Domain.Say(r.Context(), r.PostFormValue("word"), v.Who.Actor(), v.ID)
//		if form, invalid := portal.FormErrors(r, err); invalid {
//			return p.ShowInvalid(w, r, err, view.Page{Title: "Hello"}, orgview.Hello(orgview.HelloData{Form: form}))
//		}
//		if err != nil {
//			return err
//		}
//		return p.RedirectWithFlash(w, r, "/portal/hello", "hello.said")
//	}
//
// The message "hello.said" is in the table of flash.go. An entry of the menu is a
// row of menu.go; it is shown if its page exists and the visitor may open it.
package portal
