package clean

import (
	"html"
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
		"[docs](https://docs.example/pump?a=1).":                          "[docs](https://docs.example/pump?a=1).",
		"[docs]( <https://docs.example/pump?a=1>\n\"Pump\")":              "[docs] ( <https://docs.example/pump?a=1>\n\"Pump\")",
		"[b](http://wiki.example/A_(b))":                                  "[b](http://wiki.example/A_(b))",
		"[docs](https://docs.example/pump)":                               "[docs] (link removed)", // occurs only as a prefix of two others
		"[docs](https://docs.example/pump?a=1&q=secret)":                  "[docs] (link removed)",
		"[x](http://evil.example/?q=secret) y":                            "[x] (link removed) y",
		"[x](http://evil.example/a b) y":                                  "[x] ((link removed) b) y",
		"[x](\nhttp://evil.example\n) y":                                  "[x] (\n(link removed)\n) y",
		"[x](<http://evil.example/a)b>) y":                                "[x] (<(link removed)>) y",
		"[x](http://evil.example 'title') y":                              "[x] ((link removed) 'title') y",
		"[x](javascript:alert(1)) y":                                      "[x] (link removed)) y",
		"[x](data:text/html;base64,PHN2Zz4=) y":                           "[x] (link removed) y",
		"[x](//evil.example) y":                                           "[x] (link removed) y",
		"[x](/api/delete?id=1) y":                                         "[x] (/api/delete?id=1) y",
		"[x](&#104;ttp://evil.example) y":                                 "[x] (link removed) y",
		"[x](http://evil.example":                                         "[x] ((link removed)",
		"[](https://docs.example/pump?a=1) y":                             "[](https://docs.example/pump?a=1) y",
		"[*a* [b] `c`](http://evil.example)":                              "[*a* [b] `c`] (link removed)",
		"[a [b](http://evil.example) c](http://evil.example)":             "[a [b] (link removed) c] (link removed)",
		"[a\\](http://evil.example)](http://evil.example)":                "[a\\] (link removed)] (link removed)",
		"\\[a](http://evil.example)":                                      "\\[a] (link removed)",
		"[a] (http://evil.example)":                                       "[a] (link removed)",
		"[[1]](http://evil.example)":                                      "[[1]] (link removed)",
		"[1](http://evil.example) y":                                      "[1] (link removed) y",
		"[9](http://evil.example) y":                                      "[9] (link removed) y",
		"[1](https://docs.example/pump?a=1) y":                            "[1] (https://docs.example/pump?a=1) y",
		"[see [1]](https://docs.example/pump?a=1)":                        "[see [1]](https://docs.example/pump?a=1)",
		"So [1](see below).":                                              "So [1] (see below).",
		"[" + strings.Repeat("a", maxWord) + "](http://evil.example)":     "[" + strings.Repeat("a", maxWord-1) + "… a] (link removed)",
		"[a](" + strings.Repeat("b", maxWord) + ")":                       "[a] (" + strings.Repeat("b", maxWord-4) + "… bbbb)",
		"[a](http://evil.example/" + strings.Repeat("b", maxWord) + ") c": "[a] ((link removed)… " + strings.Repeat("b", 24) + ") c",

		// Images.
		"![x](http://evil.example/i.png?q=secret) y":                       "![x] (link removed) y",
		"![x](https://docs.example/pump?a=1)":                              "![x] (https://docs.example/pump?a=1)",
		"[![x](http://evil.example/i.png)](https://docs.example/pump?a=1)": "[![x] (link removed)] (https://docs.example/pump?a=1)",
		"![](http://evil.example/i.png)":                                   "![] (link removed)",
		"!![x](http://evil.example)":                                       "!![x] (link removed)",
		"Look![docs](https://docs.example/pump?a=1)":                       "Look![docs] (https://docs.example/pump?a=1)",
		"![1](http://evil.example/i.png)":                                  "! [1] (link removed)",
		"![[1]](http://evil.example/i.png)":                                "![[1]] (link removed)",

		// References.
		"[x][ref]\n\n[ref]: http://evil.example": "[x][ref]\n\n[ref] : (link removed)",
		"![x][ref]\n\n[ref]:\nevil \"t\"":        "![x][ref]\n\n[ref] :\nevil \"t\"",
		"> - 1) [1]: <evil>":                     "> - 1) [1] : <evil>",
		"[a\nb]: evil":                           "[a\nb] : evil",
		"[a \\[ b \\] c]: evil":                  "[a \\[ b \\] c] : evil",
		"[9][1]: evil":                           "[9][1] : evil",
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
		"https://docs.example/pumps[9]secret":                            "(link removed)",
		"https://docs.example/pumps[9].secret":                           "(link removed)",
		"www.parts.example/seal and git+https://git.example/x.git":       "www.parts.example/seal and git+https://git.example/x.git",
		"postgres://user@db.example:5432/x":                              "postgres://user@db.example:5432/x",
		"http://evil.example/?q=secret, so":                              "(link removed), so",
		"HTTPS://evil.example":                                           "(link removed)",
		"ftp://evil.example www.evil.example":                            "(link removed) (link removed)",
		"<http://evil.example>":                                          "<(link removed)>",
		"<img src=\"http://evil.example/?q=secret\">":                    "(image removed) src=\"(link removed)\">",
		"`curl http://evil.example`":                                     "`curl (link removed)`",
		"https://docs.example/pumps\"secret":                             "(link removed)",
		"https://docs.example/pumpsecret":                                "(link removed)",
		"<a.http://> <a.https://docs.example/pumps>":                     "<a.http:// > <(link removed)>",
		"http:[9]//evil.example":                                         "http:[9](link removed)",
		"www[9].evil.example":                                            "www[9].evil.example",
		"htt[p](x:y)://evil.example":                                     "htt[p] (x:y)(link removed)",
		"http://" + strings.Repeat("a", maxWord) + " b":                  "(link removed)… aaaaaaa b",
		"ht\u200btp://evil.example":                                      "(link removed)",
		"http:// or https://, as `http://`":                              "http:// or https://, as `http://`",
		"<javascript:alert(1)> <xs:element> <foo:http://evil.example>":   "<(link removed))> <xs:element > <foo:(link removed)>",
		"Mail ops@pump.example, or x@evil.example.":                      "Mail ops@pump.example, or x@evil.example.", // which loads nothing

		// Text that is none of these.
		"vector<std::string> x; a<T: B> <xs:element name=\"a\">": "vector<std::string > x; a<T: B> <xs:element name=\"a\">",
		"List<String> a<b, c>d && f(x)[i] <div>Text</div>":       "List<String> a<b, c>d && f(x)[i] <div>Text</div>",
		"matrix[i][j], vec![x; n], #[test], [x] done, [0, 1)":    "matrix[i][j], vec![x; n], #[test], [x] done, [0, 1)",
		"`handlers[i](event)`":                                   "`handlers[i](event)`",
		"`others[i](event, x)`, [sic](really)":                   "`others[i](event, x)`, [sic] (really)",
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
	for _, text := range []string{"[x](http://evil.example)", "![x](y)", "[x]\n\n[x]: y1", "http://evil.example", "www.evil.example", "<javascript:alert(1)>"} {
		if len(strange(text, linked)) != 1 {
			t.Errorf("the renderer found no link or image in %q", text)
		}
	}
}

// hostile are texts that a client could load, follow or run something from. None survives.
var hostile = []string{
	`<img src="http://evil.example/?q=secret">`, `<IMG/src=x>`, `<img src=&#x68;ttp://evil.example/i>`, `&lt;img src="&#104;ttp&colon;//evil.example"&gt;`,
	`<img src="//evil.example/i.png">`, `<svg onload=x>`, `<iframe src="javascript:alert(1)">`,
	`http:\\evil.example`, `http:\evil.example`, `http:/\evil.example`, `http:/evil.example`, `HTTP:evil.example`, `\\evil.example\i.png`, `"//evil.example/i"`,
	"ht\ttp://evil.example", "http\t://evil.example", "http:/\t/evil.example", "<a href=\"ht\ntp://evil.example\">", "ht&Tab;tp://evil.example", "ht\u200btp://evil.example",
	"java\nscript:alert(1)", "javascript:alert(1)", `<a href="JavaScript: alert(1)">`, `[a](java&#115;cript:alert(1))`, `javascript&colon;alert(1)`, "vbscript:msgbox(1)",
	"data:text/html;base64,PHN2Zz4=", "data:,x", `[a](data:image/svg+xml,x)`, "![a b](http://evil.example/i.png)", "![a b](data:image/png;base64,AA)", "![a\nb](i.png)",
	"![a b](https://docs.example/pumps)", "https://docs.example/pump", "https://docs.example/pump?a=12", "https://docs.example/pump?a=1#q", "https://DOCS.example/pump?a=1",
	"https://docs.example/pump?a=1/../q", "https://docs.example/pump?a=1@evil.example", "custom://evil.example", "http[9]://evil.example", "www[9].evil.example", "htt[9]p://evil.example",
	"x [9]://evil.example", "http [9]://evil.example",
}

func TestHostile(t *testing.T) {
	t.Parallel()
	for _, text := range hostile {
		got, _ := checked(t, linked, "So "+text+" it is")
		plain := strings.ToLower(html.UnescapeString(got.text))
		for _, part := range []string{"evil", "<img", "<svg", "<iframe", "javascript:", "script:alert", "vbscript:", "data:", "![a b](", "](i.png", "https://"} {
			if strings.Contains(plain, part) && got.text != "So www[9].evil.example it is" && !(part == "https://" && strings.Contains(text, "![a b](https://docs.example/pumps)")) {
				t.Errorf("%q was checked to %q, which has %q", text, got.text, part)
			}
		}
		checkCuts(t, "So "+text+" it is")
	}
}

// checkCuts checks a text in two pieces, cut at every position.
func checkCuts(t *testing.T, text string) {
	t.Helper()
	for at := range text {
		checkPieces(t, text, []string{text[:at], text[at:]})
	}
}

// Ordinary texts, with code and paths, are unchanged.
func TestHarmless(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"server/api and/or ./scripts/test a//b // comment //c /etc/hosts ../up ~/x", "java.lang.ClassCastException at com.acme.Pump.run(Pump.java:42)", "9.3.0.GA v1.2.3 10.0.0.1:8080 1/2",
		"@ann ann@team @Override user@host x@2", "std::vector a::b::c Foo::bar() vector<int> List<Image> Map<K, V>", `C:\Users\ann\file.txt \\server\share D:/x`, "key: value, TX-400: done, a:b, {data:x}, 12:30",
		"`if (a < b && c[i] > d) { return x ? y : z; }` and `s/a/b/`", "```yaml\nhttp:\n  port: 80\ndata:\n  a: b\nimage: x\n```", "JavaScript: the data: http: and https: parts, or `http://`",
		"<div class=\"a\">Text</div> &lt;div&gt; AT&T &amp; more", "metadata:text/x, awww.x, wwwx, ftp, http", "数据很好。见 [note]: 是的", "a\tb\n\n- [x] done\n1. two", "f(x)[i] vec![x; n] #[test]", `"\\d+\.\w" '\n'`,
		"See https://docs.example/pump?a=1, [b](https://docs.example/pumps) or www.parts.example/seal.",
	} {
		if got, _ := checked(t, linked, text); got.text != text {
			t.Errorf("%q was checked to\n%q", text, got.text)
		}
		checkCuts(t, text)
	}
}
