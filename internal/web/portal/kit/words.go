package kit

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Count formats a number with a comma between thousands.
func Count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return sign + b.String()
}

// Bytes formats a size with its unit.
func Bytes(n int64) string {
	units, i, f := []string{"bytes", "kB", "MB", "GB", "TB"}, 0, float64(n)
	for f >= 1000 && i < len(units)-1 {
		f, i = f/1000, i+1
	}
	if i == 0 {
		return Count(n) + " bytes"
	}
	return fmt.Sprintf("%.1f %s", f, units[i])
}

// Stamp formats a time to the minute, in UTC.
func Stamp(at time.Time) string { return at.UTC().Format("2 Jan 2006, 15:04") + "\u00a0UTC" }

// Date formats a day.
func Date(day time.Time) string { return day.UTC().Format("2 Jan 2006") }

// Ago formats how long ago a time is, or how far ahead.
func Ago(at, now time.Time) string {
	d := now.Sub(at)
	if d < 0 {
		return "in " + span(-d)
	}
	if d < time.Minute {
		return "just now"
	}
	return span(d) + " ago"
}

func span(d time.Duration) string {
	for _, step := range []struct {
		name string
		long time.Duration
	}{{"year", 365 * 24 * time.Hour}, {"month", 30 * 24 * time.Hour}, {"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}} {
		if n := int(d / step.long); n > 0 {
			if n == 1 {
				return "1 " + step.name
			}
			return strconv.Itoa(n) + " " + step.name + "s"
		}
	}
	return "less than a minute"
}

// Duration formats a duration by its largest unit.
func Duration(d time.Duration) string { return span(d) }

// Days formats a number of days.
func Days(n int) string {
	if n == 1 {
		return "1 day"
	}
	return strconv.Itoa(n) + " days"
}

// Hours formats a number of hours, in days where it is a whole number of them.
func Hours(n int) string {
	switch {
	case n > 0 && n%24 == 0:
		return Days(n / 24)
	case n == 1:
		return "1 hour"
	default:
		return strconv.Itoa(n) + " hours"
	}
}

// Share formats part of whole in percent.
func Share(part, whole int64) string {
	if whole <= 0 {
		return "–"
	}
	percent := float64(part) / float64(whole) * 100
	if part > 0 && percent < 0.1 {
		return "under 0.1%"
	}
	return fmt.Sprintf("%.1f%%", percent)
}

// SupplyWord says whether a network supplies data: the words and the tone of every page.
func SupplyWord(silent bool, through time.Time) (string, Tone) {
	switch {
	case through.IsZero():
		return "Never supplied", Warn
	case silent:
		return "Not supplying", Bad
	}
	return "Supplying", Good
}
