package guide

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strings"
)

// What a word counts for where it stands, and for a word of the same kin.
const (
	inTitle    = 5.0
	inSummary  = 2.5
	inHeading  = 2.0
	inText     = 1.0
	asKin      = 0.6
	maxResults = 20
)

// byKind prefers pages that tell what to do to those that tell why.
var byKind = map[string]float64{"tutorial": 1.1, "how-to": 1.15, "reference": 1, "explanation": 0.9, "decisions": 0.5}

// index finds pages by words.
type index struct {
	entries []entry
	found   map[string]int // in how many pages a word is
	average float64        // length of a text
}

// entry is a page as the index sees it.
type entry struct {
	page                          *page
	title                         []string
	titles, summary, heads, texts map[string]int
	length                        int
}

// result is a page that was found, with the part of it that fits best.
type result struct {
	Page    *page
	Section section
	Excerpt []piece
	score   float64
}

func newIndex(all []*page) *index {
	x := &index{found: map[string]int{}}
	total := 0
	for _, p := range all {
		if p.Kind == nil || p == p.Kind.Index {
			continue // a list of pages is nobody's answer
		}
		name := strings.ReplaceAll(strings.TrimSuffix(path.Base(p.File), ".md"), "-", " ")
		e := entry{page: p, title: wordsOf(p.Title), titles: map[string]int{}, summary: map[string]int{}, heads: map[string]int{}, texts: map[string]int{}}
		count(e.titles, e.title)
		count(e.summary, wordsOf(p.Summary+" "+name))
		for i, part := range p.Sections {
			words := wordsOf(part.text)
			e.length += len(words)
			count(e.texts, words)
			count(e.heads, wordsOf(headOf(p, i)))
		}
		total += e.length
		for w := range e.words() {
			x.found[w]++
		}
		x.entries = append(x.entries, e)
	}
	x.average = float64(total) / float64(max(len(x.entries), 1))
	return x
}

// headOf returns the heading of a section, and what its tables define: a reader who looks
// for a code looks for the row that says what it means.
func headOf(p *page, section int) string {
	head := ""
	if section > 0 {
		head = p.Sections[section].Heading
	}
	if p.Kind.Dir == "reference" {
		head += " " + strings.Join(p.Sections[section].terms, " ")
	}
	return head
}

// words are all words of an entry, each once.
func (e *entry) words() map[string]bool {
	all := map[string]bool{}
	for _, field := range []map[string]int{e.titles, e.summary, e.heads, e.texts} {
		for w := range field {
			all[w] = true
		}
	}
	return all
}

func count(in map[string]int, words []string) {
	for _, w := range words {
		in[w]++
	}
}

// find returns the pages for a query, the best first.
func (x *index) find(query string) []result {
	typed := wordsOf(query)
	asked := slices.DeleteFunc(slices.Clone(typed), func(w string) bool { return unsaid[w] })
	if len(asked) == 0 {
		return nil
	}
	task := len(typed) > 1 && articles[typed[1]]
	words := slices.Compact(slices.Sorted(slices.Values(asked)))
	var all []result
	for i := range x.entries {
		e := &x.entries[i]
		if score := x.score(e, words) * e.fits(asked, task); score > 0 {
			all = append(all, result{Page: e.page, score: score})
		}
	}
	slices.SortStableFunc(all, func(a, b result) int { return cmp.Compare(b.score, a.score) })
	all = all[:min(len(all), maxResults)]
	for i := range all {
		all[i].Section = x.bestSection(all[i].Page, words)
		all[i].Excerpt = excerpt(all[i].Section.text, words)
	}
	return all
}

// score says how well a page answers the words of a query: by the rarity of each word,
// by where it stands, and by how many of the words there are.
func (x *index) score(e *entry, words []string) float64 {
	sum, matched, all := 0.0, 0.0, 0.0
	for _, w := range words {
		rarity := x.rarity(w)
		all += rarity
		best := x.weigh(e, w)
		for _, other := range kin[w] {
			best = max(best, asKin*x.weigh(e, other))
		}
		if best > 0 {
			matched += rarity
			sum += rarity * best
		}
	}
	if sum == 0 {
		return 0
	}
	prior, known := byKind[e.page.Kind.Dir]
	if !known {
		prior = 1
	}
	return sum * (matched / all) * prior * (1 + x.covered(e, words))
}

// fits says how much a title is what was typed: all of it, or a task that begins with the
// same verb. A query such as "rotate the pepper" names a task.
func (e *entry) fits(asked []string, task bool) float64 {
	title := slices.DeleteFunc(slices.Clone(e.title), func(w string) bool { return unsaid[w] })
	does := e.page.Kind.Dir == "how-to" || e.page.Kind.Dir == "tutorial"
	same := 0.0
	switch {
	case slices.Equal(title, asked) && (does || !task):
		same = 1
	case does && len(title) > 0 && (title[0] == asked[0] || slices.Contains(kin[asked[0]], title[0])):
		same = 0.3
	}
	if does && task {
		same += 0.7
	}
	return 1 + same
}

// rarity is the weight of a word: rare words say more.
func (x *index) rarity(w string) float64 {
	n := x.found[w]
	for _, other := range kin[w] {
		n = max(n, x.found[other])
	}
	return math.Log(1 + float64(len(x.entries))/float64(1+n))
}

// weigh says how prominent a word is on a page.
func (x *index) weigh(e *entry, w string) float64 {
	score := 0.0
	if e.titles[w] > 0 {
		score += inTitle
	}
	if e.summary[w] > 0 {
		score += inSummary
	}
	score += inHeading * saturate(e.heads[w], 1)
	return score + inText*saturate(e.texts[w], 0.25+0.75*float64(e.length)/x.average)
}

// saturate lets repetitions count less and less, and less on long pages.
func saturate(n int, length float64) float64 {
	return 2.2 * float64(n) / (float64(n) + 1.2*length)
}

// covered says how much of the title the query says, so that a page that is exactly
// about it comes before one that is about more.
func (x *index) covered(e *entry, words []string) float64 {
	said, hit := 0.0, 0.0
	for _, w := range e.title {
		switch {
		case unsaid[w]:
			continue
		case slices.Contains(words, w):
			hit++
		case slices.ContainsFunc(kin[w], func(other string) bool { return slices.Contains(words, other) }):
			hit += 0.5
		}
		said++
	}
	if said == 0 {
		return 0
	}
	return hit / said
}

// bestSection returns the section that says most of the words.
func (x *index) bestSection(p *page, words []string) section {
	best, most := p.Sections[0], 0.0
	for i, s := range p.Sections {
		in := map[string]int{}
		count(in, wordsOf(s.text))
		count(in, slices.Repeat(wordsOf(headOf(p, i)), 3))
		sum := 0.0
		for _, w := range words {
			here := saturate(in[w], 1)
			for _, other := range kin[w] {
				here = max(here, asKin*saturate(in[other], 1))
			}
			sum += here * x.rarity(w)
		}
		if sum > most*1.1 { // an earlier section wins if a later one is hardly better
			best, most = s, sum
		}
	}
	return best
}
