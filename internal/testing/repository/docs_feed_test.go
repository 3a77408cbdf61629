package repository_test

import (
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/lineproof/lineproof/api"
	"github.com/lineproof/lineproof/internal/line/outbox"
	"github.com/lineproof/lineproof/internal/notify/webhook"
)

// eventTypes returns the types of all events, without their prefix: what stands in the code, and where that is only the
// beginning, every word that follows it.
func eventTypes(t *testing.T) []string {
	t.Helper()
	line, supply := []string{}, []string{outbox.SupplyStarted.String(), outbox.LinesAdded.String(), outbox.LinesWithdrawn.String()}
	for _, k := range outbox.Kinds() {
		if k.IsTold() && !slices.Contains(supply, k.String()) {
			line = append(line, k.String())
		}
	}
	words := map[string][]string{
		"line.v1.": line, "supply.v1.": supply,
		"endpoint.v1.": {string(webhook.NoticeFailing), string(webhook.NoticeDisabled), string(webhook.KindTest), string(webhook.KindChallenge)},
	}
	subjects := []string{"policy", "plan"} // of the types that begin with what has another version
	literal := regexp.MustCompile(`"([a-z]*\.v1\.[a-z-]*)"`)
	var types []string
	err := fs.WalkDir(checkout, "internal", func(path string, d fs.DirEntry, err error) error {
		isCode := strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go")
		if err != nil || d.IsDir() || !isCode || !strings.HasPrefix(path, "internal/notify/") && !strings.HasPrefix(path, "internal/answer/") {
			return err
		}
		for _, m := range literal.FindAllStringSubmatch(readText(t, path), -1) {
			switch found := m[1]; {
			case strings.HasPrefix(found, "."):
				for _, subject := range subjects {
					types = append(types, subject+found)
				}
			case strings.HasSuffix(found, "."):
				if words[found] == nil {
					t.Errorf("%s makes types that begin with %s; say here which", path, found)
				}
				for _, word := range words[found] {
					types = append(types, found+word)
				}
			default:
				types = append(types, found)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(types)
	return slices.Compact(types)
}

// The page about the feed has every type of event that there is, and no other.
func TestEveryEventTypeIsDocumented(t *testing.T) {
	t.Parallel()
	word := regexp.MustCompile("`([a-z0-9.-]+)`")
	var documented []string
	for _, row := range tableOf(t, readText(t, "docs/reference/feed.md"), "## Events") {
		var prefix string
		for _, m := range word.FindAllStringSubmatch(row[0], -1) {
			name := m[1]
			if at := strings.LastIndex(name, "."); at >= 0 {
				prefix = name[:at+1]
			} else {
				name = prefix + name
			}
			documented = append(documented, name)
		}
	}
	slices.Sort(documented)
	if diff := cmp.Diff(eventTypes(t), documented); diff != "" {
		t.Errorf("types of events (-code +page):\n%s", diff)
	}
}

// The contract names every type of event that a feed has, and no other.
func TestTheContractHasEveryEventType(t *testing.T) {
	t.Parallel()
	var want []string
	for _, name := range eventTypes(t) {
		if name != "endpoint.v1.test" && name != "endpoint.v1.challenge" { // are no part of the feed
			want = append(want, "org.lineproof."+name)
		}
	}
	doc := contractDocument(t)
	var got []string
	listed, _ := doc.Components.Schemas["Event"].Value.Properties["type"].Value.Extensions["x-extensible-enum"].([]any)
	for _, name := range listed {
		got = append(got, fmt.Sprint(name))
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("types of events (-code +contract):\n%s", diff)
	}
}

// The data of every type of event has the members that the code writes, and those that are not always there say when.
func TestTheDataOfEventsIsInTheContract(t *testing.T) {
	t.Parallel()
	doc := contractDocument(t)
	structs := map[string]string{
		"LineEventData": "internal/notify/distribute/distribute.go LineData", "SupplyEventData": "internal/notify/distribute/class.go supplyData",
		"VersionEventData": "internal/notify/distribute/class.go versionData", "AnswerEventData": "internal/answer/impact/tell.go data",
		"AnswerEventSaid": "internal/answer/impact/tell.go said", "ListEventData": "internal/notify/watchlist/tell.go listData",
		"RebasedEventData": "internal/notify/feed/rebase.go rebasedData",
	}
	member := regexp.MustCompile("`json:\"(\\w+)(,omitzero)?\"`")
	for schema, source := range structs {
		path, name, _ := strings.Cut(source, " ")
		_, rest, found := strings.Cut(readText(t, path), "\ntype "+name+" struct {\n")
		if !found {
			t.Fatalf("%s has no %s", path, name)
		}
		body, _, _ := strings.Cut(rest, "\n}\n")
		var required, all []string
		for _, m := range member.FindAllStringSubmatch(body, -1) {
			if all = append(all, m[1]); m[2] == "" {
				required = append(required, m[1])
			}
		}
		slices.Sort(all)
		slices.Sort(required)
		has := doc.Components.Schemas[schema]
		if has == nil {
			t.Errorf("there is no schema %s", schema)
			continue
		}
		if diff := cmp.Diff(all, slices.Sorted(maps.Keys(has.Value.Properties))); diff != "" {
			t.Errorf("members of %s (-code +contract):\n%s", schema, diff)
		}
		if diff := cmp.Diff(required, slices.Sorted(slices.Values(has.Value.Required))); diff != "" {
			t.Errorf("members that %s always has (-code +contract):\n%s", schema, diff)
		}
	}
	for _, one := range doc.Components.Schemas["Event"].Value.Properties["data"].Value.OneOf {
		name := strings.TrimPrefix(one.Ref, "#/components/schemas/")
		if structs[name] == "" && name != "EndpointEventData" && name != "ErasedEventData" { // whose data are maps
			t.Errorf("nothing compares %s with the code", name)
		}
	}
}

func contractDocument(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(api.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}
