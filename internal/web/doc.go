// Package web holds what the two HTTP transports, httpapi and portal, have in
// common, so that a rule about HTTP is written once.
//
//   - [Status], [Faults] and [RetryAfter] turn an error into a fault and a fault
//     into an HTTP status.
//   - [ClientAddr] finds the client's address behind trusted proxies.
//   - [WithTimeout] limits how long a handler may take, including the time to
//     read the request body. [AbortResponse] ends a response that failed half way.
//   - [BodyReader] tells an upload that broke off from an error of the service.
//   - [RequestLog], [Observer] and [LogSampler] give a request its id, its line in
//     the log and its place in the metrics, and recover from panics.
//   - [SetAPIHeaders], [SetPageHeaders], [SetDownloadHeaders] and [SendDocument]
//     set the security headers.
//   - [Mux] matches routes and answers 405 with an Allow header.
//   - [Cursor], [CursorID], [PageLinks], [CutPage] and [PageOf] read the cursor of
//     a list and write the links to its other pages.
//   - [ParseTime], [ParseDate], [ParseFormTime] and [DateRange] read times.
//
// A transport keeps what it knows about a request in a struct of its own that
// embeds RequestLog, puts it into the request's context, and serves through an
// Observer:
//
//	v := &visit{}
//	v.Init(r, p.Proxies)
//	r = r.WithContext(context.WithValue(r.Context(), visitKey{}, v))
//	web.SetPageHeaders(w.Header())
//	status, took := observer.Serve(w, r, &v.RequestLog, next)
//	v.Write(r.Context(), p.Log, v.Level(status), status, took)
//
// A list that is read from the database page by page uses the cursor functions
// in one of three ways. Where the domain package returns the cursor of the next
// page, pass both cursors to PageLinks. Where it does not, read one row more than
// the page shows and let CutPage find the cursor. A list that is in memory as a
// whole is cut by PageOf.
package web
