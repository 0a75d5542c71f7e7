package reply

import (
	"strings"
	"testing"
)

// linked are sources with all kinds of addresses.
var linked = []string{
	"See https://docs.example/pump?a=1 and (http://wiki.example/A_(b)), or www.parts.example/seal.",
	"Mail ops@pump.example. <a href=\"https://html.example/x\">x</a> handlers[i](event) git+https://git.example/x.git",
	"https://docs.example/pumps, postgres://user@db.example:5432/x, https://weg.example/straße",
}

func TestLinks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		// Links.
		"[docs](https://docs.example/pump?a=1).":                            "[docs](https://docs.example/pump?a=1).",
		"[docs]( <https://docs.example/pump?a=1>\n\"Pump\")":                "[docs](https://docs.example/pump?a=1)",
		"[b](http://wiki.example/A_(b))":                                    "[b](<http://wiki.example/A_(b)>)",
		"[docs](https://docs.example/pump)":                                 "docs", // occurs only as a prefix of two others
		"[docs](https://docs.example/pump?a=1&q=secret)":                    "docs",
		"[x](http://evil.example/?q=secret) y":                              "x y",
		"[x](http://evil.example/a b) y":                                    "x y",
		"[x](\nhttp://evil.example\n) y":                                    "x y",
		"[x](<http://evil.example/a)b>) y":                                  "x y",
		"[x](http://evil.example 'title') y":                                "x y",
		"[x](javascript:alert(1)) y":                                        "x y",
		"[x](data:text/html;base64,PHN2Zz4=) y":                             "x y",
		"[x](//evil.example) y":                                             "x y",
		"[x](/api/delete?id=1) y":                                           "x y",
		"[x](&#104;ttp://evil.example) y":                                   "x y",
		"[x](http://evil.example":                                           "x",
		"[](https://docs.example/pump?a=1) y":                               "y",
		"[*a* [b] `c`](http://evil.example)":                                "*a* [b] `c`",
		"[a [b](http://evil.example) c](http://evil.example)":               "a b c",
		"[a\\](http://evil.example)](http://evil.example)":                  "a\\] ((link removed))",
		"\\[a](http://evil.example)":                                        "\\a",
		"[a] (http://evil.example)":                                         "[a] ((link removed))",
		"[[1]](http://evil.example)":                                        "[1]",
		"[1](http://evil.example) y":                                        "[1] y",
		"[9](http://evil.example) y":                                        "y",
		"[1](https://docs.example/pump?a=1) y":                              "[1] (https://docs.example/pump?a=1) y",
		"[see [1]](https://docs.example/pump?a=1)":                          "see [1] (https://docs.example/pump?a=1)",
		"So [1](see below).":                                                "So [1].",
		"[" + strings.Repeat("a", maxBracket) + "](http://evil.example)":    "[" + strings.Repeat("a", maxBracket) + "] ((link removed))",
		"[a](" + strings.Repeat("b", maxTarget) + ")":                       "[a] (" + strings.Repeat("b", maxTarget) + ")",
		"[a](http://evil.example/" + strings.Repeat("b", maxTarget) + ") c": "[a] ((link removed) c",

		// Images.
		"![x](http://evil.example/i.png?q=secret) y":                       "x y",
		"![x](https://docs.example/pump?a=1)":                              "x",
		"[![x](http://evil.example/i.png)](https://docs.example/pump?a=1)": "[x](https://docs.example/pump?a=1)",
		"![](http://evil.example/i.png)":                                   "",
		"!![x](http://evil.example)":                                       "!x",
		"Look![docs](https://docs.example/pump?a=1)":                       "Lookdocs",
		"![1](http://evil.example/i.png)":                                  "! [1]",
		"![[1]](http://evil.example/i.png)":                                "[1]",

		// References.
		"[x][ref]\n\n[ref]: http://evil.example": "[x][ref]\n\n[ref] : (link removed)",
		"![x][ref]\n\n[ref]:\nevil \"t\"":        "![x][ref]\n\n[ref] :\nevil \"t\"",
		"> - 1) [1]: <evil>":                     "> - 1) [1] : <evil>",
		"[a\nb]: evil":                           "[a\nb] : evil",
		"[a \\[ b \\] c]: evil":                  "[a \\[ b \\] c] : evil",
		"[9][1]: evil":                           "[1] : evil",
		"As in [1]: evil, and [note]: so":        "As in [1]: evil, and [note]: so",

		// Addresses.
		"See https://docs.example/pump?a=1.":                             "See https://docs.example/pump?a=1.",
		"(https://docs.example/pump?a=1), \"http://wiki.example/A_(b)\"": "(https://docs.example/pump?a=1), \"http://wiki.example/A_(b)\"",
		"`https://docs.example/pumps`":                                   "`https://docs.example/pumps`",
		"**https://docs.example/pumps**":                                 "**https://docs.example/pumps**",
		"<https://docs.example/pumps>":                                   "<https://docs.example/pumps>",
		"<a href=\"https://html.example/x\">x</a>":                       "<a href=\"https://html.example/x\">x</a>",
		"见https://docs.example/pumps。见":                                  "见https://docs.example/pumps 。见",
		"见https://docs.example/pumps见":                                   "见https://docs.example/pumps 见",
		"https://weg.example/straße":                                     "https://weg.example/straße",
		"https://docs.example/pumps[1]":                                  "https://docs.example/pumps [1]",
		"https://docs.example/pumps[9]secret":                            "https://docs.example/pumps secret",
		"https://docs.example/pumps[9].secret":                           "https://docs.example/pumps .secret",
		"www.parts.example/seal and git+https://git.example/x.git":       "www.parts.example/seal and git+https://git.example/x.git",
		"postgres://user@db.example:5432/x":                              "postgres://user@db.example:5432/x",
		"http://evil.example/?q=secret, so":                              "(link removed), so",
		"HTTPS://evil.example":                                           "(link removed)",
		"ftp://evil.example www.evil.example":                            "(link removed) (link removed)",
		"<http://evil.example>":                                          "<(link removed)>",
		"<img src=\"http://evil.example/?q=secret\">":                    "<img src=\"(link removed)\">",
		"`curl http://evil.example`":                                     "`curl (link removed)`",
		"https://docs.example/pumps\"secret":                             "(link removed)\"secret",
		"https://docs.example/pumpsecret":                                "(link removed)",
		"<a.http://> <a.https://docs.example/pumps>":                     "<a. http://> <a. https://docs.example/pumps>",
		"http:[9]//evil.example":                                         "http: //evil.example",
		"www[9].evil.example":                                            "www .evil.example",
		"htt[p](x:y)://evil.example":                                     "(link removed)",
		"http://" + strings.Repeat("a", 2*maxAddress) + " b":             "(link removed) b",
		"ht\u200btp://evil.example":                                      "(link removed)",
		"http:// or https://, as `http://`":                              "http:// or https://, as `http://`",
		"<javascript:alert(1)> <xs:element> <foo:http://evil.example>":   "<javascript:alert(1) > <xs:element > <foo:(link removed)>",
		"Mail ops@pump.example, not x@evil.example.":                     "Mail ops@pump.example, not x @evil.example.",
		"**ops@pump.example** `ops@pump.example` 'ops@pump.example' a!@evil.example /ops@pump.example": "**ops@pump.example** `ops@pump.example` 'ops@pump.example' a! @evil.example /ops @pump.example",
		"<x@evil> mailto:x@evil.example a@b@evil.example x@2":                                          "<x @evil> mailto:x @evil.example a@b @evil.example x@2",

		// Text that is none of these.
		"vector<std::string> x; a<T: B> <xs:element name=\"a\">": "vector<std::string > x; a<T: B> <xs:element name=\"a\">",
		"List<String> a<b, c>d && f(x)[i] <div>Text</div>":       "List<String> a<b, c>d && f(x)[i] <div>Text</div>",
		"matrix[i][j], vec![x; n], #[test], [x] done, [0, 1)":    "matrix[i][j], vec![x; n], #[test], [x] done, [0, 1)",
		"`handlers[i](event)`":                                   "`handlers[i](event)`",
		"`others[i](event, x)`, [sic](really)":                   "`others[i] (event, x)`, [sic] (really)",
		"h ht http https f w ww www hot water for: a/b //c":      "h ht http https f w ww www hot water for: a/b //c",
	} {
		got, _ := checked(t, linked, text)
		if got.text != want {
			t.Errorf("%.200q was checked to\n%.200q, want\n%.200q", text, got.text, want)
		}
		if found := strange(got.text, linked); len(found) > 0 {
			t.Errorf("%.200q was checked to %.200q, which contains %q", text, got.text, found)
		}
	}
	// The Markdown renderer of this test finds the links and images that the checker must remove.
	for _, text := range []string{"[x](http://evil.example)", "![x](y)", "[x]\n\n[x]: y1", "http://evil.example", "www.evil.example", "x@evil.example", "<javascript:alert(1)>"} {
		if len(strange(text, linked)) != 1 {
			t.Errorf("the renderer found no link or image in %q", text)
		}
	}
}

func TestInvisibleCharactersAreRemoved(t *testing.T) {
	t.Parallel()
	got, _ := checked(t, linked, "A\x00\x1b[2K\u202eB\u2066\U000E0041\u200b\u3164 C\u2028D\u2800E\tF\nG")
	if want := "A[2KB C\nD E\tF\nG"; got.text != want {
		t.Errorf("the text without invisible characters is %q, want %q", got.text, want)
	}
}
