package inspect

import (
	"slices"
	"strings"
	"unicode"
)

// The names of actions and attachments. A reader finds them at certain places;
// here they are refused anywhere, because some readers reach those places in ways
// that others do not.
var (
	// forbidden are refused anywhere, as key or as value.
	forbidden = map[pdfName]*Refusal{
		"JavaScript": ActiveContent, "JS": ActiveContent, "Launch": ActiveContent, "SubmitForm": ActiveContent, "ImportData": ActiveContent,
		"GoToR": ActiveContent, "GoToE": ActiveContent, "GoTo3DView": ActiveContent, "Rendition": ActiveContent,
		"RichMedia": ActiveContent, "RichMediaContent": ActiveContent, "RichMediaExecute": ActiveContent, "XFA": ActiveContent,
		"EmbeddedFile": EmbeddedFile, "EmbeddedFiles": EmbeddedFile, "FileAttachment": EmbeddedFile,
	}
	// forbiddenKeys are refused as keys. Elsewhere they may be the names of colours
	// or letters.
	forbiddenKeys = map[pdfName]*Refusal{"AA": ActiveContent, "EF": EmbeddedFile, "RF": EmbeddedFile}
	// forbiddenTypes are refused as the value of Type or Subtype.
	forbiddenTypes = map[pdfName]*Refusal{
		"Movie": ActiveContent, "Sound": ActiveContent, "Screen": ActiveContent, "3D": ActiveContent, "U3D": ActiveContent,
		"PRC": ActiveContent, "PS": ActiveContent,
	}
	// pageActions are the named actions that only turn pages.
	pageActions = []pdfName{"NextPage", "PrevPage", "FirstPage", "LastPage"}
	// formActions are those that act only when the user presses a button.
	formActions = []pdfName{"Print", "GoBack", "GoForward", "GoToPage", "Find"}
	// schemes are the URL schemes that a link may have.
	schemes = []string{"http", "https", "mailto", "tel"}
)

// check checks a value and everything in it.
func (f *pdfFile) check(v any, isStream bool) error {
	switch v := v.(type) {
	case pdfName:
		if r, bad := forbidden[v]; bad {
			return r
		}
	case pdfArray:
		for _, item := range v {
			if err := f.check(item, false); err != nil {
				return err
			}
		}
	case pdfDict:
		return f.checkDict(v, isStream)
	}
	return nil
}

func (f *pdfFile) checkDict(dict pdfDict, isStream bool) error {
	for _, e := range dict {
		if r, bad := forbidden[e.key]; bad {
			return r
		}
		if r, bad := forbiddenKeys[e.key]; bad {
			return r
		}
		if err := f.checkEntry(dict, e); err != nil {
			return err
		}
		if err := f.check(e.value, false); err != nil {
			return err
		}
	}
	if isStream && (isSpec(dict.get("F")) || dict.get("FFilter") != nil || dict.get("Ref") != nil) {
		return ActiveContent // the content is in an external file
	}
	return nil
}

// isSpec reports whether a value can be a file specification: old writers use the
// same key for filters, with a name as the value.
func isSpec(v any) bool {
	switch v.(type) {
	case pdfString, pdfDict, pdfRef:
		return true
	default:
		return false
	}
}

// checkEntry checks the entries whose value needs a closer check.
func (f *pdfFile) checkEntry(dict pdfDict, e pdfEntry) error {
	switch e.key {
	case "Encrypt":
		return Encrypted
	case "Type", "S", "Subtype":
		f.deferred = append(f.deferred, func() error { return f.checkType(dict, e) })
	case "OpenAction":
		f.deferred = append(f.deferred, func() error { return f.checkOpenAction(e.value, 0) })
	case "URI", "Base":
		f.deferred = append(f.deferred, func() error { return f.checkURI(e.value) })
	case "Collection":
		if kind, _ := dict.get("Type").(pdfName); kind == "Catalog" {
			return EmbeddedFile
		}
	}
	return nil
}

// checkType checks the type of an object.
func (f *pdfFile) checkType(dict pdfDict, e pdfEntry) error {
	for _, v := range f.resolve(e.value) {
		kind, ok := v.(pdfName)
		if !ok {
			continue
		}
		if r, bad := forbiddenTypes[kind]; bad {
			return r
		}
		switch {
		case e.key == "Type" && kind == "Catalog":
			f.catalogue = true
		case e.key == "S" && (kind == "GoTo" || kind == "URI" || kind == "Thread") && (dict.get("F") != nil || dict.get("Win") != nil):
			return ActiveContent
		case e.key == "S" && kind == "Named":
			for _, v := range f.resolve(dict.get("N")) {
				if name, ok := v.(pdfName); ok && !slices.Contains(pageActions, name) && !slices.Contains(formActions, name) {
					return ActiveContent
				}
			}
		}
	}
	return nil
}

// checkOpenAction checks what happens when the PDF is opened: it may only show a
// page.
func (f *pdfFile) checkOpenAction(v any, depth int) error {
	if depth > 16 {
		return ActiveContent
	}
	for _, v := range f.resolve(v) {
		dict, ok := v.(pdfDict)
		if !ok {
			continue // a destination in the document
		}
		for _, e := range dict {
			switch e.key {
			case "S":
				for _, v := range f.resolve(e.value) {
					name, _ := first[pdfName](f.resolve(dict.get("N")))
					if v != pdfName("GoTo") && (v != pdfName("Named") || !slices.Contains(pageActions, name)) {
						return ActiveContent
					}
				}
			case "Next":
				list, ok := e.value.(pdfArray)
				if !ok {
					list = pdfArray{e.value}
				}
				for _, next := range list {
					if err := f.checkOpenAction(next, depth+1); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// checkURI checks the target of a link. A target without a scheme is left to the
// reader, unless it is a file on another machine.
func (f *pdfFile) checkURI(v any) error {
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
		isScheme := found && strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyz0123456789+-") == "" // with a dot it is a host name
		if (isScheme && !slices.Contains(schemes, scheme)) || strings.HasPrefix(address, `\\`) || strings.HasPrefix(address, "//") {
			return ActiveContent
		}
	}
	return nil
}
