package corpus

import (
	"fmt"
	"strings"
)

// actions are the forbidden actions of a PDF.
var actions = []struct{ name, body string }{
	{"script", "<</S/JavaScript/JS(1+1)>>"},
	{"script in a stream", "<</S/JavaScript/JS 9 0 R>>"},
	{"program", "<</S/Launch/F(hello.exe)>>"},
	{"program for windows", "<</S/Launch/Win<</F(hello.exe)/P(x)>>>>"},
	{"form that is sent", "<</S/SubmitForm/F<</FS/URL/F(http://example.com/)>>/Flags 4>>"},
	{"data that is read", "<</S/ImportData/F(data.fdf)>>"},
	{"other document", "<</S/GoToR/F(other.pdf)/D[0/Fit]>>"},
	{"document on another machine", `<</S/GoToR/F(\\\\192.0.2.1\\share\\a.pdf)/D[0/Fit]>>`},
	{"attached document", "<</S/GoToE/T<</R/C/N(a.pdf)>>>>"},
	{"film", "<</S/Rendition/OP 0>>"},
	{"old film", "<</S/Movie/T(a)/Operation/Play>>"},
	{"sound", "<</S/Sound/Sound 9 0 R>>"},
	{"rich media", "<</S/RichMediaExecute/CMD<</C(play)>>>>"},
	{"view of a body", "<</S/GoTo3DView/V 0>>"},
	{"address that is a script", "<</S/URI/URI(javascript:1+1)>>"},
	{"address that hides a script", `<</S/URI/URI(\152ava\163cript:1)>>`},
	{"address with a blank that is a script", "<</S/URI/URI( java\tscript:1)>>"},
	{"address of a file", "<</S/URI/URI(file:///etc/passwd)>>"},
	{"address of another machine", `<</S/URI/URI(\\\\192.0.2.1\\a)>>`},
	{"address of data", "<</S/URI/URI(data:text/html,1)>>"},
	{"menu", "<</S/Named/N/SaveAs>>"},
}

// triggers are the places of an action in a PDF.
var triggers = []struct {
	name  string
	build func(action string) *pdf
}{
	{"on opening", func(a string) *pdf { return newPDF("/OpenAction "+a, "") }},
	{"on opening, elsewhere", func(a string) *pdf { return with(newPDF("/OpenAction 6 0 R", ""), a) }},
	{"behind a harmless one", func(a string) *pdf { return newPDF("/OpenAction<</S/GoTo/D[3 0 R/Fit]/Next["+a+"]>>", "") }},
	{"on a link", func(a string) *pdf { return newPDF("", "/Annots[<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/A "+a+">>]") }},
	{"on turning a page", func(a string) *pdf { return newPDF("", "/AA<</O "+a+">>") }},
	{"on a button", func(a string) *pdf {
		return with(newPDF("/AcroForm<</Fields[6 0 R]>>", "/Annots[6 0 R]"), "<</FT/Btn/T(b)/Subtype/Widget/Rect[0 0 9 9]/A "+a+">>")
	}},
	{"on an outline", func(a string) *pdf {
		return with(newPDF("/Outlines 6 0 R", ""), "<</First 7 0 R/Last 7 0 R/Count 1>>", "<</Title(a)/Parent 6 0 R/A "+a+">>")
	}},
	{"on nothing", func(a string) *pdf { return with(newPDF("", ""), a) }},
}

func with(p *pdf, bodies ...string) *pdf {
	for _, b := range bodies {
		p.add("%s", b)
	}
	return p
}

// active are PDFs with active content: every action in every place, in one of the
// forms of a file.
func active() (all []Sample) {
	for i, a := range actions {
		for j, t := range triggers {
			p := t.build(a.body)
			s := Sample{Name: a.name + " " + t.name, MediaType: typePDF, Codes: []string{"active_content"}}
			switch (i + j) % 3 {
			case 0:
				s.Data = p.classic()
			case 1:
				s.Name, s.Data = s.Name+", packed", p.packed(filters[1+(i+j)%(len(filters)-1)])
			default:
				s.Name = s.Name + ", added later"
				changed := map[int]string{}
				for n, o := range p.objects {
					if o.stream == nil {
						changed[n+1] = o.body
					}
				}
				s.Data = p.update(newPDF("", "").classic(), changed, "")
			}
			all = append(all, s)
		}
	}
	names := newPDF("/Names<</JavaScript<</Names[(a) 6 0 R]>>>>", "")
	extra := map[string]*pdf{
		"scripts by name":             with(names, "<</S/JavaScript/JS(1)>>"),
		"an address on opening":       newPDF("/OpenAction<</S/URI/URI(http://example.com/)>>", ""),
		"printing on opening":         newPDF("/OpenAction<</S/Named/N/Print>>", ""),
		"an address behind opening":   newPDF("/OpenAction<</S/GoTo/D[3 0 R/Fit]/Next<</S/URI/URI(http://example.com/)>>>>", ""),
		"a form of another language":  newPDF("/AcroForm<</XFA[(template) 4 0 R]/Fields[]>>", ""),
		"actions of the catalogue":    newPDF("/AA<</WC<</S/GoTo/D[3 0 R/Fit]>>>>", ""),
		"a film":                      newPDF("", "/Annots[<</Subtype/Movie/Rect[0 0 9 9]/Movie<</F(a.avi)>>>>]"),
		"a sound":                     newPDF("", "/Annots[<</Subtype/Sound/Rect[0 0 9 9]/Sound 4 0 R>>]"),
		"a screen":                    newPDF("", "/Annots[<</Subtype/Screen/Rect[0 0 9 9]>>]"),
		"rich media":                  newPDF("", "/Annots[<</Subtype/RichMedia/Rect[0 0 9 9]>>]"),
		"a body":                      newPDF("", "/Annots[<</Subtype/3D/Rect[0 0 9 9]>>]"),
		"a base that is a script":     newPDF("/URI<</Base(javascript:)>>", ""),
		"a place in another document": newPDF("", "/Annots[<</Subtype/Link/Rect[0 0 9 9]/A<</S/GoTo/F(b.pdf)/D[0/Fit]>>>>]"),
	}
	outside := newPDF("", "")
	outside.addStream("/F(c:/secret.txt)", []byte{})
	extra["a stream that is a file outside"] = outside
	postscript := newPDF("", "")
	postscript.addStream("/Type/XObject/Subtype/PS", []byte("showpage"))
	extra["postscript"] = postscript
	reference := newPDF("", "")
	reference.addStream("/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Ref<</F(b.pdf)/Page 0>>", []byte("q Q"))
	extra["a page of another document"] = reference
	for name, p := range sorted(extra) {
		all = append(all,
			Sample{Name: "pdf with " + name, MediaType: typePDF, Data: p.classic(), Codes: []string{"active_content"}},
			Sample{Name: "packed pdf with " + name, MediaType: typePDF, Data: p.packed(filters[1]), Codes: []string{"active_content"}})
	}
	return all
}

// attached are PDFs with attached files, or encrypted.
func attached() (all []Sample) {
	file := newPDF("/Names<</EmbeddedFiles<</Names[(a.exe) 6 0 R]>>>>", "")
	file.add("<</Type/Filespec/F(a.exe)/EF<</F 7 0 R>>>>")
	file.addStream("/Type/EmbeddedFile/Filter/FlateDecode", deflate([]byte("hello")))
	orphan := newPDF("", "")
	orphan.addStream("/Type/EmbeddedFile", []byte("hello"))
	extra := map[string]*pdf{
		"an attached file":            file,
		"an attachment to nothing":    orphan,
		"an attachment on a page":     newPDF("", "/Annots[<</Subtype/FileAttachment/Rect[0 0 9 9]/FS<</F(a)>>>>]"),
		"a portfolio":                 newPDF("/Collection<</View/T>>", ""),
		"a list of attached files":    newPDF("/Names<</EmbeddedFiles<</Names[]>>>>", ""),
		"an associated file":          with(newPDF("/AF[6 0 R]", ""), "<</Type/Filespec/F(a.xml)/AFRelationship/Data/EF<</F 4 0 R>>>>"),
		"an escaped attachment":       with(newPDF("", ""), "<</Type/Filespec/F(a)/#45#46<</F 4 0 R>>>>"),
		"files that belong to a file": with(newPDF("", ""), "<</Type/Filespec/F(a)/RF<</F[(a) 4 0 R]>>>>"),
	}
	for name, p := range sorted(extra) {
		all = append(all,
			Sample{Name: "pdf with " + name, MediaType: typePDF, Data: p.classic(), Codes: []string{"embedded_file"}},
			Sample{Name: "packed pdf with " + name, MediaType: typePDF, Data: p.packed(filters[1]), Codes: []string{"embedded_file"}})
	}
	for i, lock := range []string{
		"<</Filter/Standard/V 1/R 2/O(" + strings.Repeat("o", 32) + ")/U(" + strings.Repeat("u", 32) + ")/P -4>>",
		"<</Filter/Standard/V 2/Length 128/R 3/O<00>/U<00>/P -3904>>",
		"<</Filter/Standard/V 4/R 4/CF<</StdCF<</CFM/AESV2>>>>/StmF/StdCF/StrF/StdCF>>",
		"<</Filter/Standard/V 5/R 6/CF<</StdCF<</CFM/AESV3>>>>/StmF/StdCF/StrF/StdCF>>",
		"<</Filter/Adobe.PubSec/V 4/SubFilter/adbe.pkcs7.s5>>",
	} {
		p := with(newPDF("", ""), lock)
		p.trailer = "/Encrypt 6 0 R"
		direct := newPDF("", "")
		direct.trailer = "/Encrypt" + lock
		for how, data := range sorted(map[string][]byte{
			"": p.classic(), ", packed": p.packed(filters[1]), ", in the trailer": direct.classic(),
			", added later": newPDF("", "").update(newPDF("", "").classic(), map[int]string{9: lock}, "/Encrypt 9 0 R"),
		}) {
			all = append(all, Sample{Name: fmt.Sprintf("pdf behind lock %d%s", i+1, how), MediaType: typePDF, Data: data, Codes: []string{"encrypted"}})
		}
	}
	return all
}
