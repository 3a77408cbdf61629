package numbering

import (
	"bytes"
	"embed"
	"strings"
)

//go:embed plans/*.csv plans/*.txt
var plans embed.FS

// Shipped returns the plan that is built into the program for a region, and its
// source. It is false for regions without one.
func Shipped(region string) (rows []Row, source string, ok bool) {
	name := "plans/" + strings.ToLower(region)
	file, err := plans.ReadFile(name + ".csv")
	if err != nil {
		return nil, "", false
	}
	text, err := plans.ReadFile(name + ".txt")
	if err != nil {
		return nil, "", false
	}
	if rows, err = ReadCSV(bytes.NewReader(file)); err != nil {
		panic("numbering: the built-in plan is wrong: " + err.Error()) // a test reads all of them
	}
	return rows, strings.Join(strings.Fields(string(text)), " "), true
}
