package e2e_test

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lineproof/lineproof/client"
)

// toldEvent is an event of a feed for the tests of those who check them.
func toldEvent(id string, version int) client.Event {
	place, _ := parseID(id)
	return client.Event{ID: id, Type: "org.lineproof.line.v1.swapped", Sequence: int64(place.seq), Data: fmt.Appendf(nil, `{"phoneNumber":"+%d","version":%d}`, firstWatched, version)}
}

func toldRestore(id, cursor string) client.Event {
	return client.Event{ID: id, Type: rebasedEvent, Data: fmt.Appendf(nil, `{"cursor":%q}`, cursor)}
}

// The reader of the runs with faults finds every planted fault, and takes what is right.
func TestFeedReaderFindsPlantedFaults(t *testing.T) {
	t.Parallel()

	other := toldEvent("1-2", 2)
	other.Subject = "+2348030000000"
	for name, c := range map[string]struct {
		events []client.Event
		want   string // part of the error; "" if there is none
	}{
		"right":                   {[]client.Event{toldEvent("1-1", 1), toldEvent("1-2", 2), toldEvent("1-3", 3), toldRestore("9-2", "1-1-0"), toldEvent("9-3", 2)}, ""},
		"nothing is left":         {[]client.Event{toldEvent("1-1", 1), toldRestore("9-1", "1-0-0"), toldEvent("9-2", 1)}, ""},
		"missing":                 {[]client.Event{toldEvent("1-1", 1), toldEvent("1-3", 2)}, "1-3 came after 1"},
		"a version is missing":    {[]client.Event{toldEvent("1-1", 1), toldEvent("1-2", 3)}, "version 3 of a number came after 1"},
		"twice":                   {[]client.Event{toldEvent("1-1", 1), toldEvent("1-1", 1)}, "1-1 came after 1"},
		"another epoch":           {[]client.Event{toldEvent("1-1", 1), toldEvent("9-2", 2)}, "nothing said so"},
		"missing after a restore": {[]client.Event{toldEvent("1-1", 1), toldRestore("9-2", "1-1-0"), toldEvent("9-4", 2)}, "9-4 came after 2"},
		"the last that counts was never there": {
			[]client.Event{toldEvent("1-1", 1), toldRestore("9-4", "1-3-0")}, "the reader does not have it",
		},
		"the last that counts is of a lost history": {
			[]client.Event{toldEvent("1-1", 1), toldRestore("8-2", "1-1-0"), toldEvent("8-3", 2), toldRestore("9-4", "1-3-0")}, "the reader does not have it",
		},
		"an id with other bytes": {
			[]client.Event{toldEvent("1-1", 1), toldEvent("1-2", 2), toldRestore("9-2", "1-1-0"), other}, "the id 1-2 came with other bytes",
		},
	} {
		r := newFeedReader(1)
		var err error
		for i := range c.events {
			if err = r.take(&c.events[i]); err != nil {
				break
			}
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// The receiver of the runs with faults finds planted faults in what is sent, and knows when
// it has to ask for everything again.
func TestReceiverFindsPlantedFaults(t *testing.T) {
	t.Parallel()

	swapped := func(id string) string {
		_, seq, _ := strings.Cut(id, "-")
		return fmt.Sprintf(`{"id":%q,"sequence":%q,"type":"org.lineproof.line.v1.swapped"}`, id, seq)
	}
	restore := func(id, cursor string) string {
		_, seq, _ := strings.Cut(id, "-")
		return fmt.Sprintf(`{"id":%q,"sequence":%q,"type":%q,"data":{"cursor":%q}}`, id, seq, rebasedEvent, cursor)
	}
	for name, c := range map[string]struct {
		events  []string
		wrong   string // part of what it finds; "" if that is nothing
		missing bool
		next    int
	}{
		"right":            {[]string{swapped("1-1"), swapped("1-2"), swapped("1-1"), restore("9-2", "1-1-0"), swapped("9-3")}, "", false, 4},
		"missing":          {[]string{swapped("1-1"), swapped("1-3")}, "event 3 came before 2", false, 2},
		"another epoch":    {[]string{swapped("1-1"), swapped("9-2")}, "nothing said so", false, 2},
		"other bytes":      {[]string{swapped("1-1"), strings.Replace(swapped("1-1"), "swapped", "ported", 1)}, "other bytes", false, 2},
		"counts again":     {[]string{swapped("1-1"), swapped("1-2"), restore("8-2", "1-1-0"), restore("9-3", "1-2-0")}, "", true, 3},
		"an earlier epoch": {[]string{swapped("1-1"), restore("8-2", "1-1-0"), swapped("1-3")}, "", true, 3},
	} {
		h := &hooked{next: 1, bodies: map[string][sha256.Size]byte{}, restores: &restoredHistory{sums: map[eventID][sha256.Size]byte{}}}
		for i, e := range c.events {
			h.take(strconv.Itoa(i), []byte("["+e+"]"), time.Now())
		}
		found := strings.Join(h.wrong, "; ")
		if c.wrong == "" && found != "" || !strings.Contains(found, c.wrong) || h.restores.missing != c.missing || h.next != c.next {
			t.Errorf("%s: found %q, missing %t, next %d; want %q, %t, %d", name, found, h.restores.missing, h.next, c.wrong, c.missing, c.next)
		}
	}
}
