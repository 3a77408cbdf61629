package inspect

import (
	"slices"
	"strings"
	"unicode"
)

// The names that give an action or an attachment away. A reader finds them by
// their place; here they are refused in any place where they can stand, for a
// place can be reached in ways that only some readers know.
var (
	// forbidden are refused wherever they stand, as key or as value.
	forbidden = map[pdfName]*Refusal{
		"JavaScript": ActiveContent, "JS": ActiveContent, "Launch": ActiveContent, "SubmitForm": ActiveContent, "ImportData": ActiveContent,
		"GoToR": ActiveContent, "GoToE": ActiveContent, "GoTo3DView": ActiveContent, "Rendition": ActiveContent,
		"RichMedia": ActiveContent, "RichMediaContent": ActiveContent, "RichMediaExecute": ActiveContent, "XFA": ActiveContent,
		"EmbeddedFile": EmbeddedFile, "EmbeddedFiles": EmbeddedFile, "FileAttachment": EmbeddedFile,
	}
	// forbiddenKeys are refused as keys. They may be the names of colours or
	// letters elsewhere.
	forbiddenKeys = map[pdfName]*Refusal{"AA": ActiveContent, "EF": EmbeddedFile, "RF": EmbeddedFile}
	// forbiddenKinds are refused as what something is.
	forbiddenKinds = map[pdfName]*Refusal{
		"Movie": ActiveContent, "Sound": ActiveContent, "Screen": ActiveContent, "3D": ActiveContent, "U3D": ActiveContent,
		"PRC": ActiveContent, "PS": ActiveContent,
	}
	// turning are the named actions that only turn pages.
	turning = []pdfName{"NextPage", "PrevPage", "FirstPage", "LastPage"}
	// asking are those that act only when somebody presses a button.
	asking = []pdfName{"Print", "GoBack", "GoForward", "GoToPage", "Find"}
	// schemes are the addresses that a link may have.
	schemes = []string{"http", "https", "mailto", "tel"}
)

// judge looks at a value and everything in it.
func (f *pdfFile) judge(v any, isStream bool) error {
	switch v := v.(type) {
	case pdfName:
		if r, bad := forbidden[v]; bad {
			return r
		}
	case pdfArray:
		for _, item := range v {
			if err := f.judge(item, false); err != nil {
				return err
			}
		}
	case pdfDict:
		return f.judgeDict(v, isStream)
	}
	return nil
}

func (f *pdfFile) judgeDict(dict pdfDict, isStream bool) error {
	for _, e := range dict {
		if r, bad := forbidden[e.key]; bad {
			return r
		}
		if r, bad := forbiddenKeys[e.key]; bad {
			return r
		}
		if err := f.judgeEntry(dict, e); err != nil {
			return err
		}
		if err := f.judge(e.value, false); err != nil {
			return err
		}
	}
	if isStream && (isSpec(dict.get("F")) || dict.get("FFilter") != nil || dict.get("Ref") != nil) {
		return ActiveContent // the content is in a file outside
	}
	return nil
}

// isSpec says whether a value can name a file: the key of the filters of old
// writers is the same, and their value a name.
func isSpec(v any) bool {
	switch v.(type) {
	case pdfString, pdfDict, pdfRef:
		return true
	default:
		return false
	}
}

// judgeEntry looks at the entries whose value needs more than a look.
func (f *pdfFile) judgeEntry(dict pdfDict, e pdfEntry) error {
	switch e.key {
	case "Encrypt":
		return Encrypted
	case "Type", "S", "Subtype":
		f.later = append(f.later, func() error { return f.judgeKind(dict, e) })
	case "OpenAction":
		f.later = append(f.later, func() error { return f.judgeOpening(e.value, 0) })
	case "URI", "Base":
		f.later = append(f.later, func() error { return f.judgeAddress(e.value) })
	case "Collection":
		if kind, _ := dict.get("Type").(pdfName); kind == "Catalog" {
			return EmbeddedFile
		}
	}
	return nil
}

// judgeKind looks at what something is.
func (f *pdfFile) judgeKind(dict pdfDict, e pdfEntry) error {
	for _, v := range f.resolve(e.value) {
		kind, ok := v.(pdfName)
		if !ok {
			continue
		}
		if r, bad := forbiddenKinds[kind]; bad {
			return r
		}
		switch {
		case e.key == "Type" && kind == "Catalog":
			f.catalogue = true
		case e.key == "S" && (kind == "GoTo" || kind == "URI" || kind == "Thread") && (dict.get("F") != nil || dict.get("Win") != nil):
			return ActiveContent
		case e.key == "S" && kind == "Named":
			for _, v := range f.resolve(dict.get("N")) {
				if name, ok := v.(pdfName); ok && !slices.Contains(turning, name) && !slices.Contains(asking, name) {
					return ActiveContent
				}
			}
		}
	}
	return nil
}

// judgeOpening looks at what happens when the PDF is opened: nothing may, but a
// page may be shown.
func (f *pdfFile) judgeOpening(v any, depth int) error {
	if depth > 16 {
		return ActiveContent
	}
	for _, v := range f.resolve(v) {
		dict, ok := v.(pdfDict)
		if !ok {
			continue // a place in the document
		}
		for _, e := range dict {
			switch e.key {
			case "S":
				for _, v := range f.resolve(e.value) {
					name, _ := first[pdfName](f.resolve(dict.get("N")))
					if v != pdfName("GoTo") && (v != pdfName("Named") || !slices.Contains(turning, name)) {
						return ActiveContent
					}
				}
			case "Next":
				list, ok := e.value.(pdfArray)
				if !ok {
					list = pdfArray{e.value}
				}
				for _, next := range list {
					if err := f.judgeOpening(next, depth+1); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// judgeAddress looks at where a link leads. One without a scheme leads to where
// the reader thinks best, except to another machine's files.
func (f *pdfFile) judgeAddress(v any) error {
	for _, v := range f.resolve(v) {
		s, ok := v.(pdfString)
		if !ok {
			continue
		}
		address := strings.ToLower(strings.Map(func(r rune) rune {
			if r == unicode.ReplacementChar || unicode.IsControl(r) || unicode.IsSpace(r) || r == '\ufeff' {
				return -1
			}
			return r
		}, strings.ToValidUTF8(string(s), "")))
		scheme, _, found := strings.Cut(address, ":")
		isScheme := found && strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyz0123456789+-") == "" // with a dot it is a machine
		if (isScheme && !slices.Contains(schemes, scheme)) || strings.HasPrefix(address, `\\`) || strings.HasPrefix(address, "//") {
			return ActiveContent
		}
	}
	return nil
}
