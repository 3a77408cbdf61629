// Package portal is the shell of the pages for people: routes, sign-in, sessions,
// rights, menu, layout, forms, errors and the request log. The pages themselves
// are in the packages below it, one for each subject, with handlers and templates of
// all who see it, organisations and staff:
//
//   - keys, webhooks, files, requests: what an organisation's programs use,
//   - records: the journal, receipts, and the search of staff,
//   - documents, team, organisations: who uses the service, and with which papers,
//   - operators, numbers: what is supplied about lines, and what staff decide about them,
//   - rules, approvals, home: what staff set, confirm and see first,
//   - kit: what all pages share.
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
//	{Method: http.MethodGet, Path: "/portal/hello", Right: portal.OrgMember, Serve: p.ShowForm(p.hello)},
//
//	func (p *Pages) hello(r *http.Request, form kit.Form) (kit.Page, templ.Component, error) {
//		e, err := p.Registry.Entity(r.Context(), portal.VisitOf(r).Who.Entity)
//		return kit.Page{Title: "Hello"}, Hello(e.Name, form), err
//	}
//
// Its form is a second row with POST on the same path. What is wrong is shown at the fields,
// and success redirects to another page:
//
//	func (p *Pages) sayHello(w http.ResponseWriter, r *http.Request) error {
//		v := portal.VisitOf(r)
//		err := p.Domain.Say(r.Context(), r.PostFormValue("word"), v.Who.Actor(), v.ID)
//		return p.EndForm(w, r, err, p.hello, "/portal/hello", "hello.said")
//	}
//
// What asks before it is done is an [Action], which has both rows.
//
// The message "hello.said" is in the table of flash.go. An entry of the menu is a
// row of menu.go; it is shown if its page exists and the visitor may open it.
package portal
