package scenario_test

import (
	"fmt"
	"strings"

	"github.com/lineproof/lineproof/internal/line"
)

// ask is a question and the answer that it must have.
type ask struct {
	at      when
	knowing when // by what had been reported at this time; zero: at
	want    expected
}

// expected is an answer. What a scenario does not mention is not compared, except
// the list of open events, which is then empty.
type expected struct {
	status, network string
	sinces          []since
	signals         []signal
	signalled       bool // compare the signals
	through         when
	open            []string
	counts          []counted
}

// since is an answer to what has changed since a time.
type since struct {
	at   when
	want string // yes with what changed, no, or unknown
}

// signal is a signal of an answer. What is zero is not compared.
type signal struct {
	words        string // the status, and the level of a flag
	since, until when
	isContested  bool
}

// counted is what is counted of an operator's reports of one kind.
type counted struct {
	by          *party
	kind        string
	late, early int64
}

// asked asks about the number.
func asked(at when) *ask { return &ask{at: at} }

// known asks about a time by what is known at a later one.
func (a *ask) known(at when) *ask {
	a.knowing = at
	return a
}

func (a *ask) addTo(r *row) { r.steps = append(r.steps, a) }
func (a *ask) told() string { return "" }

// answer is a part of the answer to the last question.
type answer func(e *expected)

func (x answer) addTo(r *row) {
	a, ok := r.steps[len(r.steps)-1].(*ask)
	if !ok {
		panic("an answer follows a question: " + r.title)
	}
	x(&a.want)
}

// status is the status, with its reason if it has one, and the network.
func status(word, network string) answer {
	return func(e *expected) { e.status, e.network = word, network }
}

// changed is the answer to what has changed since a time.
func changed(at when, want string) answer {
	return func(e *expected) { e.sinces = append(e.sinces, since{at, want}) }
}

// knownThrough is up to when everything was supplied.
func knownThrough(at when) answer { return func(e *expected) { e.through = at } }

// signals are all signals, in the order of precedence.
func signals(list ...signal) answer {
	return func(e *expected) { e.signals, e.signalled = list, true }
}

func sig(words string) signal { return signal{words: words} }

func (g signal) from(at when) signal {
	g.since = at
	return g
}

func (g signal) to(at when) signal {
	g.until = at
	return g
}

func (g signal) contested() signal {
	g.isContested = true
	return g
}

// open is what staff see in the list of open events.
func open(list ...string) answer { return func(e *expected) { e.open = list } }

// late and early are what is counted against an operator.
func late(by *party, kind string, n int64) answer {
	return func(e *expected) { e.counts = append(e.counts, counted{by, kind, n, 0}) }
}

func early(by *party, n int64) answer {
	return func(e *expected) { e.counts = append(e.counts, counted{by, "ASSIGNED", 0, n}) }
}

// question writes the question for the page.
func (a *ask) question() string {
	text := a.at.String()
	if a.knowing != (when{}) {
		text = fmt.Sprintf("about %s, on %s", a.at, a.knowing)
	}
	return text
}

// answered writes the answer for the page.
func (a *ask) answered() string {
	var list []string
	w := &a.want
	if w.status != "" {
		word, reason, ok := strings.Cut(w.status, " ")
		text := "`" + word + "`"
		if ok {
			text += " (`" + reason + "`)"
		}
		list = append(list, text+", "+w.network)
	}
	if w.signalled {
		texts := make([]string, len(w.signals))
		for i, g := range w.signals {
			texts[i] = g.String()
		}
		if len(texts) == 0 {
			texts = []string{"none"}
		}
		list = append(list, "Signals: "+strings.Join(texts, "; "))
	}
	for _, q := range w.sinces {
		word, what, ok := strings.Cut(q.want, " ")
		text := fmt.Sprintf("Changed since %s: %s", q.at, word)
		if ok {
			text += " (" + what + ")"
		}
		list = append(list, text)
	}
	if w.through != (when{}) {
		list = append(list, fmt.Sprintf("Known through %s", w.through))
	}
	for _, c := range w.counts {
		if c.kind == line.Assign.String() {
			list = append(list, fmt.Sprintf("%s has %d early `%s`", c.by.name, c.early, c.kind))
		} else {
			list = append(list, fmt.Sprintf("%s has %d late `%s`", c.by.name, c.late, c.kind))
		}
	}
	if len(w.open) > 0 {
		list = append(list, "Staff see "+strings.Join(w.open, "; "))
	}
	return strings.Join(list, ". ") + "."
}

// String writes a signal for the page.
func (g signal) String() string {
	text := "`" + g.words + "`"
	if g.isContested {
		text += " contested"
	}
	if g.since != (when{}) {
		text += " since " + g.since.String()
	}
	if g.until != (when{}) {
		text += " until " + g.until.String()
	}
	return text
}
