package kit

import (
	"bytes"
	"context"

	"github.com/a-h/templ"
)

// fieldLabels are the labels of the fields of a page, by name. The summary of a form's
// errors names the fields and stands above them, so a page with a summary is rendered
// twice: the first time to learn the labels.
type fieldLabels struct {
	of     map[string]string
	wanted bool // a summary was rendered
}

type labelsKey struct{}

// Render renders a page with its body.
func Render(ctx context.Context, page Page, body templ.Component) ([]byte, error) {
	labels := &fieldLabels{of: map[string]string{}}
	ctx = context.WithValue(ctx, labelsKey{}, labels)
	var b bytes.Buffer
	err := Layout(page).Render(templ.WithChildren(ctx, body), &b)
	if err == nil && labels.wanted {
		b.Reset()
		err = Layout(page).Render(templ.WithChildren(ctx, body), &b)
	}
	return b.Bytes(), err
}

// keepLabel remembers the label of a field for the summary of errors.
func keepLabel(ctx context.Context, name, label string) {
	if labels, ok := ctx.Value(labelsKey{}).(*fieldLabels); ok {
		labels.of[name] = label
	}
}

// labelOf returns the label of a field, or "" if the page has no such field.
func labelOf(ctx context.Context, name string) string {
	labels, ok := ctx.Value(labelsKey{}).(*fieldLabels)
	if !ok {
		return ""
	}
	labels.wanted = true
	return labels.of[name]
}
