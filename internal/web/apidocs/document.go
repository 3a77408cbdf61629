package apidocs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// page is the content of the HTML page without scripts.
type page struct {
	Title, Version, Summary string
	Operations              []operation
}

// operation is one row of the page's list.
type operation struct {
	Method, Path, Summary, Opening string
}

// unmarked removes the Markdown marks that the contract uses inside a sentence.
var unmarked = strings.NewReplacer("`", "", "**", "")

// readPage reads the content of the page from the contract.
func readPage(contract []byte) (page, error) {
	var doc struct {
		Info struct {
			Title, Version, Summary string
		}
		Paths yaml.Node
	}
	if err := yaml.Unmarshal(contract, &doc); err != nil {
		return page{}, fmt.Errorf("apidocs: read contract: %w", err)
	}
	p := page{Title: doc.Info.Title, Version: doc.Info.Version, Summary: doc.Info.Summary}
	for path, item := range pairs(&doc.Paths) {
		for method, node := range pairs(item) {
			var o struct {
				Summary, Description string
			}
			if err := node.Decode(&o); err != nil {
				return page{}, fmt.Errorf("apidocs: read operation: %w", err)
			}
			opening, _, _ := strings.Cut(o.Description, "\n\n")
			opening = unmarked.Replace(opening)
			p.Operations = append(p.Operations, operation{
				Method: strings.ToUpper(method.Value), Path: path.Value, Summary: o.Summary, Opening: opening,
			})
		}
	}
	return p, nil
}

// toJSON converts a YAML document to JSON and keeps the order of the fields, so
// that examples read the same in both.
func toJSON(contract []byte) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(contract, &doc); err != nil {
		return nil, fmt.Errorf("apidocs: read contract: %w", err)
	}
	var compact, indented bytes.Buffer
	if err := writeJSON(&compact, &doc); err != nil {
		return nil, err
	}
	if err := json.Indent(&indented, compact.Bytes(), "", "  "); err != nil {
		return nil, fmt.Errorf("apidocs: indent contract: %w", err)
	}
	return indented.Bytes(), nil
}

func writeJSON(b *bytes.Buffer, n *yaml.Node) error {
	switch n.Kind {
	case yaml.DocumentNode:
		return writeJSON(b, n.Content[0])
	case yaml.MappingNode:
		comma := byte('{')
		for key, value := range pairs(n) {
			b.WriteByte(comma)
			comma = ','
			if err := writeScalar(b, key.Value); err != nil {
				return err
			}
			b.WriteByte(':')
			if err := writeJSON(b, value); err != nil {
				return err
			}
		}
		if len(n.Content) == 0 {
			b.WriteByte('{')
		}
		b.WriteByte('}')
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, item := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeJSON(b, item); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	case yaml.ScalarNode:
		var v any
		if err := n.Decode(&v); err != nil {
			return fmt.Errorf("apidocs: read value in line %d: %w", n.Line, err)
		}
		return writeScalar(b, v)
	default:
		return errors.New("apidocs: the contract uses a kind of YAML that JSON does not have")
	}
	return nil
}

func writeScalar(b *bytes.Buffer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("apidocs: write value: %w", err)
	}
	b.Write(text)
	return nil
}

// pairs yields the keys and values of a mapping in the order of the file.
func pairs(n *yaml.Node) func(yield func(key, value *yaml.Node) bool) {
	return func(yield func(key, value *yaml.Node) bool) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}
