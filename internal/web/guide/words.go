package guide

import (
	"strings"
	"unicode"
)

// joined are words that people write as one or as two.
var joined = strings.NewReplacer(
	"fail over", "failover", "fails over", "failover", "failed over", "failover", "back up", "backup", "backs up", "backup", "set up", "setup", "load balancer", "loadbalancer",
	"sign in", "login", "log in", "login", "look up", "lookup", "web hook", "webhook", "api key", "api key", "two factor", "twofactor", "two-factor", "twofactor",
	"watch-list", "watchlist", "watch list", "watchlist", "e-mail", "email", "high availability", "high availability",
)

// unsaid are words that say nothing about what is looked for.
var unsaid = set(`a about an and are as at be been by can could did do does explain for from had has have how i if in into is it its me mean means meaning my no not of on or our should so
	that the their them then there these they this those to was we what when where which who why will with would you your`)

// articles after the first word make a query the name of a task: rotate the pepper.
var articles = set("a an the my our")

// kin are words of which people type one and the documents say another. Each line is a
// group; all words of a group find each other.
var kin = groups(
	"delete erase remove",
	"bulk batch csv file",
	"check verify validate verification",
	"install deploy setup",
	"environment env variable setting configuration configure option",
	"lost forgot forgotten recover reset",
	"password login account",
	"loadbalancer proxy nginx haproxy reverse",
	"failover availability switchover standby heal patroni cluster redundancy",
	"backup restore recovery pgbackrest dump",
	"webhook callback push",
	"monitor observe metric prometheus grafana dashboard alert",
	"limit quota throttle 429 rate",
	"reject refuse rejected",
	"telco operator carrier",
	"prove proof receipt evidence",
	"personal privacy gdpr ndpa",
	"data record",
	"upgrade update migrate release",
	"key credential token",
	"subscribe feed event notify notification",
	"sandbox test",
	"virus malware scanner infected clamav",
	"rotate replace renew roll",
	"revoke disable suspend block",
	"scan harvest enumeration guard",
	"bucket s3 minio storage",
	"status state",
	"sim swap",
	"meaning glossary definition term",
	"performance latency throughput benchmark measurement",
)

func set(words string) map[string]bool {
	all := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		all[w] = true
	}
	return all
}

func groups(lines ...string) map[string][]string {
	all := map[string][]string{}
	for _, line := range lines {
		words := strings.Fields(line)
		for i := range words {
			words[i] = stem(words[i])
		}
		for _, w := range words {
			all[w] = append(all[w], words...)
		}
	}
	return all
}

// wordsOf splits a text into the stems of its words, in lower case.
func wordsOf(text string) []string {
	text = joined.Replace(strings.ToLower(text))
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' })
	for i, w := range words {
		words[i] = stem(w)
	}
	return words
}

// stem removes the endings by which forms of an English word differ.
func stem(w string) string {
	w = strings.Trim(strings.TrimSuffix(w, "'s"), "'")
	switch {
	case len(w) > 4 && (strings.HasSuffix(w, "ies") || strings.HasSuffix(w, "ied")):
		return w[:len(w)-3] + "y"
	case len(w) > 4 && strings.HasSuffix(w, "sses"):
		return w[:len(w)-2]
	case len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us"):
		w = w[:len(w)-1]
	}
	for _, ending := range []string{"ing", "ed"} {
		if cut, ok := strings.CutSuffix(w, ending); ok && len(cut) > 2 && strings.ContainsAny(cut, "aeiouy") {
			w = cut
			if n := len(w); w[n-1] == w[n-2] && !strings.ContainsRune("lsz", rune(w[n-1])) {
				w = w[:n-1]
			}
			break
		}
	}
	if len(w) > 3 {
		w = strings.TrimSuffix(w, "e")
	}
	return w
}
