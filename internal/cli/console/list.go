package console

import (
	"fmt"
	"strings"
)

// List prints items, each as describe shows it: as one JSON document, or as the [Table] of what is shown.
func List[T, R any](c *Console, asJSON bool, items []T, describe func(*T) R, titles string, cells func(*R) []any) error {
	shown := make([]R, len(items))
	for i := range items {
		shown[i] = describe(&items[i])
	}
	return c.Print(asJSON, shown, Table(shown, titles, cells)...)
}

// AsIs is the description of items that are shown as they are.
func AsIs[T any](item *T) T { return *item }

// Table returns the rows of a table: titles, which commas separate, and the cells of each item.
func Table[T any](items []T, titles string, cells func(*T) []any) [][]string {
	rows := [][]string{strings.Split(titles, ", ")}
	for i := range items {
		row := cells(&items[i])
		texts := make([]string, len(row))
		for column, cell := range row {
			texts[column] = fmt.Sprint(cell)
		}
		rows = append(rows, texts)
	}
	return rows
}
