package httpapi_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// hostile returns bodies that cost much to read if something is done for every part of
// them that looks at the parts before it. Each makes a body of about size bytes.
func hostile(properties []string) map[string]func(size int) string {
	names := func(size int) string {
		var b strings.Builder
		for i := 0; b.Len() < size-16; i++ {
			fmt.Fprintf(&b, `"%04x":0,`, i)
		}
		return "{" + b.String() + `"":0}`
	}
	fill := func(part string, size int) string { return strings.Repeat(part, max(size/len(part), 1)) }
	list := func(part string, size int) string { return "[" + strings.TrimSuffix(fill(part+",", size), ",") + "]" }
	values := map[string]func(size int) string{
		"letters":         func(n int) string { return `"` + fill("a", n) + `"` },
		"escapes":         func(n int) string { return `"` + fill(`\u0061`, n) + `"` },
		"digits, spaces":  func(n int) string { return `"+` + fill("2 3-", n) + `"` },
		"wide letters":    func(n int) string { return `"` + fill("é", n) + `"` },
		"strings":         func(n int) string { return list(`"a"`, n) },
		"numbers":         func(n int) string { return list("0", n) },
		"unknown objects": func(n int) string { return list(`{"aaaa":0,"aaab":0}`, n) },
		"one object":      func(n int) string { return "[" + names(n) + "]" },
		"object":          names,
		"deep arrays":     func(n int) string { return fill("[", n/2) + fill("]", n/2) },
		"deep objects":    func(n int) string { return fill(`{"a":`, n*5/6) + "0" + fill("}", n/6) },
	}
	shapes := map[string]func(size int) string{
		"unknown fields":   names,
		"one field, often": func(n int) string { return "{" + fill(`"aaaa":0,`, n) + `"aaaa":0}` },
		"a long name":      func(n int) string { return `{"` + fill("a", n) + `":0}` },
		"an escaped name":  func(n int) string { return `{"` + fill(`\u0061`, n) + `":0}` },
		"space":            func(n int) string { return "{" + fill(" ", n) + "}" },
	}
	for _, name := range append(properties, "aaaa") {
		for kind, value := range values {
			shapes[name+": "+kind] = func(n int) string { return `{"` + name + `":` + value(n) + "}" }
		}
		shapes[name+", often"] = func(n int) string { return "{" + fill(`"`+name+`":"",`, n) + `"` + name + `":""}` }
		shapes[name+", then unknown"] = func(n int) string { return `{"` + name + `":"",` + names(n)[1:] }
	}
	return shapes
}

// jsonOperations returns the operations of the contract that take JSON, and the fields of
// their bodies.
func jsonOperations(t *testing.T) map[string][]string {
	t.Helper()
	all := make(map[string][]string)
	for path, item := range loadContract(t).doc.Paths.Map() {
		for method, o := range item.Operations() {
			if o.RequestBody == nil || o.RequestBody.Value.Content["application/json"] == nil {
				continue
			}
			schema := o.RequestBody.Value.Content["application/json"].Schema.Value
			properties := slices.Collect(maps.Keys(schema.Properties))
			for _, one := range slices.Concat(schema.OneOf, schema.AnyOf, schema.AllOf) {
				properties = slices.AppendSeq(properties, maps.Keys(one.Value.Properties))
			}
			all[method+" "+path] = slices.Compact(slices.Sorted(slices.Values(properties)))
		}
	}
	return all
}

// threadTime returns the CPU time of this thread.
func threadTime(t *testing.T) time.Duration {
	t.Helper()
	const thisThread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if err := syscall.Getrusage(thisThread, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// What a body costs is in proportion to its size: whatever it has, a byte of a body of the
// size that the operation allows takes at most twice the CPU time of a byte of a body of
// 16 KiB, or of a quarter of a smaller limit, beyond what a request costs by itself.
//
//nolint:paralleltest // it measures CPU time
func TestBodiesCostInProportionToTheirSize(t *testing.T) {
	s := newStack(t).withLines(t)
	creds, entity := credentials(t, s)
	limits, operations, known := s.BodyLimits(), jsonOperations(t), effects()
	if len(operations) < 24 {
		t.Fatalf("only %d operations take JSON", len(operations))
	}
	runtime.LockOSThread() // the handler runs on the thread whose time is measured
	defer runtime.UnlockOSThread()
	for _, route := range slices.Sorted(maps.Keys(operations)) {
		credential := known[route].credential
		if slices.Contains(readers, route) {
			credential = "session reviewer"
		}
		r := validRequest(t, s, route, creds[credential], entity)
		limit := int(limits[route])
		sizes := [3]int{64, min(16<<10, limit/4), limit - 64}
		shapes := hostile(operations[route])
		for _, name := range slices.Sorted(maps.Keys(shapes)) {
			var bodies [3]string
			for i, size := range sizes {
				bodies[i] = shapes[name](size)
			}
			if perByte, allowed := costs(t, s, r, bodies); perByte > allowed {
				t.Errorf("%s, %s: %.0f ns for a byte of %d, want at most %.0f as in a body of %d", route, name, perByte, len(bodies[2]), allowed, len(bodies[1]))
			}
		}
	}
}

// costs measures the CPU time of three bodies: a small one, one of a middle size, and the
// largest. It returns the time for a byte of the largest in nanoseconds, and how long that
// may be. Other work on the machine makes a measurement longer, never shorter: so it takes
// the shortest of a few, and of more if those are too long.
func costs(t *testing.T, s *stack, r *http.Request, bodies [3]string) (perByte, allowed float64) {
	t.Helper()
	const (
		few, many = 2, 12
		noise     = 20.0 // nanoseconds for a byte, which is too little to be compared
	)
	var best [3]time.Duration
	for run := range many {
		for i, body := range bodies {
			ask := post(r.URL.Path, "", body)
			ask.Header = r.Header.Clone()
			ask.Header.Set("Content-Type", "application/json")
			res := httptest.NewRecorder()
			began := threadTime(t)
			s.handler.ServeHTTP(res, ask)
			took := threadTime(t) - began
			tooLarge := res.Code == http.StatusRequestEntityTooLarge && r.URL.Path != batchPath // without objects a batch may be smaller
			if res.Code == http.StatusInternalServerError || tooLarge || res.Code == http.StatusUnauthorized && r.Header.Get("Authorization") != "" {
				t.Fatalf("%s answered %d to %.40s: %s", r.URL.Path, res.Code, body, res.Body)
			}
			if run == 0 || took < best[i] {
				best[i] = took
			}
		}
		each := func(i int) float64 { return float64(best[i]-best[0]) / float64(len(bodies[i])-len(bodies[0])) }
		if perByte, allowed = each(2), 2*max(each(1), noise); run >= few-1 && perByte <= allowed {
			break
		}
	}
	return perByte, allowed
}
