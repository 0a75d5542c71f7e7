package export

import (
	"math"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"unicode"
)

func TestWiki(t *testing.T) {
	t.Parallel()
	for wiki, want := range map[string]string{
		"":              "",
		"plain\ntext\n": "plain\ntext\n",
		"* [] oil it\n* [x] sweep it\n* <> in May":                                               "* [ ] oil it\n* [x] sweep it\n* Decision: in May",
		"||A||B||\n|Hall|* cranes\n* lifts|\n|x|y|\n|\n":                                         "| A | B |\n| --- | --- |\n|Hall|* cranes * lifts|\n|x|y|\n|\n",
		"[Plan|https://a.example/p|smart-card] [https://b.example|https://b.example|smart-link]": "Plan (https://a.example/p) https://b.example",
		"a\r\nb":                      "a\nb",
		"h1. Root cause\nh6.  Fine":   "# Root cause\n###### Fine",
		"h7. Seven\nh1.x\nfooh1. bar": "h7. Seven\nh1.x\nfooh1. bar",
		"bq. As Ann said":             "> As Ann said",
		"*bold* _it_, (*both*)":       "*bold* _it_, (*both*)",
		"{*}odd{*} {_}it{_} {-}no{-}": "**odd** _it_ ~~no~~",

		"-gone- (-also it-), -one- -two-.\n-well-known fact-": "~~gone~~ (~~also it~~), ~~one~~ ~~two~~.\n~~well-known fact~~",
		"+new+ and (+newer text+)":                            "_new_ and (_newer text_)",

		"* one\n** two\n*** three\n# first\n## second\n# third": "* one\n  * two\n    * three\n1. first\n   1. second\n2. third",
		"# a\n#* b\n#* c\n# d\n\nText\n# a\n# b":                "1. a\n   * b\n   * c\n2. d\n\nText\n1. a\n2. b",
		"# open\n{code}\n# not\nit\n{code}\n# close":            "1. open\n```\n# not\nit\n```\n2. close",

		"{code:java|title=Foo.java}\nint *a = *b; // _x_ -y- +z+\n# i\n{code}\nafter -it-": "Foo.java\n```java\nint *a = *b; // _x_ -y- +z+\n# i\n```\nafter ~~it~~",
		"See {code:title=a.py|language=python}\nx\ny\n{code} now":                          "See \na.py\n```python\nx\ny\n```\nnow",
		"{noformat}\n|a|b|\nh1. x\n{noformat}":                                             "```\n|a|b|\nh1. x\n```",
		"in {code}*x*{code} a *line*":                                                      "in `*x*` a *line*",
		"{code}never *closed*":                                                             "{code}never *closed*",
		"{code}a\n```\nb{code}":                                                            "````\na\n```\nb\n````",
		"{code}{code}":                                                                     "",
		"GET /users/{info}: {quote} {color:red}":                                           "GET /users/{info}: {quote} {color:red}",

		"{code}a{noformat}b{code}*c*":                                          "`a{noformat}b`*c*",
		"{quote}\n*We* wait.\n-Never-\n{quote}\nSo?":                           "> *We* wait.\n> ~~Never~~\nSo?",
		"{color:red}hot{color} {color:#ff0000}hotter{color}":                   "hot hotter",
		"{panel:title=Note|borderStyle=dashed}Read *this*{panel}":              "Note\nRead *this*",
		"see [the page|https://a.example/x_y_z?q=*1*] now":                     "see the page (https://a.example/x_y_z?q=*1*) now",
		"[https://a.example] [https://a.example|https://a.example|smart-link]": "https://a.example https://a.example",
		"[Ann|mailto:ann@a.example] [mailto:b@a.example]":                      "Ann (ann@a.example) b@a.example",
		"[the leak|PUMP-7], [below|#end]":                                      "the leak (PUMP-7), below",
		"[^log 1.txt] and [the log|^log.tar.gz]":                               "log 1.txt and log.tar.gz",
		"[~ann] and [~accountid:5b10:0-9] agree":                               "@ann and @5b10:0-9 agree",
		"[~bob smith], [~accountid:5b10a2844c20165700ede21f]":                  "@bob smith, @Lena Roth",
		"!screen shot.png|width=300! !https://a.example/i.svg! wow! Yes!":      "screen shot.png https://a.example/i.svg wow! Yes!",
		"||Case||Result||\n|a b|*ok*|\n|[t|https://a.example]|no|":             "| Case | Result |\n| --- | --- |\n|a b|*ok*|\n|t (https://a.example)|no|",
		`\*not bold\* \{x\} end\\` + "\nnext":                                  "*not bold* {x} end\nnext",
		"run {{make all}} in {{./a-b}} or {{../c}}, {{docker -i- x}} now":      "run `make all` in `./a-b` or `../c`, `docker -i- x` now",
		"https://a.example/_foo_/*bar*":                                        "https://a.example/_foo_/*bar*",
	} {
		if got := readWiki(wiki, people{"5b10a2844c20165700ede21f": "Lena Roth"}); got != want {
			t.Errorf("%q:\n got %q\nwant %q", wiki, got, want)
		}
	}
}

// Text that only resembles markup is left unchanged.
func TestWikiWithoutMarkup(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"snake_case_names and __init__ and _private_var and MAX_ and _",
		"2*3*4 = 24, a * b * c, x*y, *, **, a ** b ** c",
		"int *p = *q, **argv; char *a, *b; (*f)(*g); *p++ = *q++;",
		"/* comment */ /*comment*/ /** doc */\n * inside\n */",
		"for f in *.go *_test.go; do echo ${f} {a,b} ${x[0]} {1..3}; done",
		"awk '{print $1}' | grep -v '^#' | sort | uniq -c",
		"|| die \"no\" && a || b",
		"select *, count(*) from t where a[1] = 2 and b like '_x'",
		"if (!ok && !done) { return; } !important",
		"[a-z]+ [^a-z] arr[i] [x|y] [TODO] [1] {} {foo} {{ .Values.x }} {{.x}}",
		`C:\Users\ann \d+ \\server\share`,
		"- a\n-- b\n1. c\n# make install\n#!/bin/sh\n----",
		"cron: */5 * * * *, 0 2 * * *",
		"*starts and never ends\n_neither does this",
		"{\"json\": [1, {\"a_b\": \"*\"}]}",
		"5 * 3! = 30 and a[0]*b[1]*c",
		"state-of-the-art, pre- and post-build, x-y-z, 1-2-3, from -1 to -5 - or so -, -2-",
		"ls -l -a --all; tar -xzf a-b.tar.gz -C dir; java -Xms1g -Xmx2g -jar app-1.0.jar",
		"C++ and g++, a + b + c, i++ + ++j, 1 +2+ 3, +49 30 1234, +1 from me",
		"diff:\n-old line\n+new line\n- old\n+ new\n@@ -1,2 +1,2 @@",
		"/^[^a-z.com]+$/ [^/]* [^\\s.txt] grep [^#]",
		"$ make\n# make install\nthen reboot",
		"## Steps\n1. a\n## Expected\n** NOTE **\n### x",
		"# Steps\n```\n# a\n```\n# Expected",
		"if (a\n|| b ||\nc) {}\n||",
		"{{.Values.a}} {{ include \"x\" . }} {{.x}} ${{ matrix.os }} {%- if -%} {-1} {+}",
		"[a|b] [x|#] [A|B-] [0-9|A-Z] m[~i] [~/bin]",
		"-- sql comment\n--flag\n---\n-----BEGIN KEY-----\n2020-01-02 -0500",
	} {
		if got := readWiki(text, nil); got != text {
			t.Errorf("%q:\n got %q", text, got)
		}
	}
}

// words returns only the letters and digits of a text.
func words(s string) string {
	return strings.Map(func(r rune) rune {
		if isWord(r) {
			return r
		}
		return -1
	}, s)
}

// The work grows as the text does: what the expressions read, counted in characters, and what the
// converter allocates.
func TestWikiIsLinear(t *testing.T) {
	parts := []string{"*a ", "_", "*", "[", "[a|", "!", "!a", "{{", "{code}", "{code:x}", "{noformat}{code}", "{quote", "|a", "{", "|a|b\nc", "\nc|", `\`, "h1. ", "`",
		"{color:", "https://", "|\n", "[~", " -a", "-a- ", "+a b ", " +b+ ", "# a\n", "||a", "{-}a", "[^a.b", "[a|#b", "{quote}a{code}"}
	var units []string
	for i, part := range parts {
		for _, other := range append(parts[i:], "") {
			units = append(units, part+other, other+part)
		}
	}
	units = append(units, "[-a -b- ", "{{ -a- +b+ ", "(-a [-a -b- ", "!a -b- [")
	for _, unit := range units {
		half := strings.Repeat(unit, 300/len(unit))
		for _, expression := range []*regexp.Regexp{struck, markup, wrapper, verbatim, longRow} {
			if once, twice := runesRead(expression, half), runesRead(expression, half+half); twice > 3*once+100 {
				t.Errorf("%d and %d characters of %q: %d and %d are read by %s", len(half), 2*len(half), unit, once, twice, expression)
			}
		}
	}
	// The least of several runs: a collection in one of them empties the pools of the expressions,
	// which are filled again.
	allocated := func(text string) uint64 {
		least := uint64(math.MaxUint64)
		for range 3 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			readWiki(text, nil)
			runtime.ReadMemStats(&after)
			least = min(least, after.TotalAlloc-before.TotalAlloc)
		}
		return least
	}
	for _, unit := range append(parts, "[-a -b- ", "{code}`\n``{code}") {
		half := strings.Repeat(unit, 1<<14/len(unit))
		for _, text := range []string{half, "{code}\n" + half + "{code}"} {
			if once, often := allocated(text), allocated(strings.Repeat(text, 4)); often > 8*once {
				t.Errorf("%d bytes are allocated for %d of %q, %d for four times that", once, len(text), unit, often)
			}
		}
	}
}

// runesRead counts what an expression reads to find all its matches.
func runesRead(expression *regexp.Regexp, text string) (read int) {
	for text != "" {
		in := strings.NewReader(text)
		found := expression.FindReaderIndex(in)
		read += len(text) - in.Len()
		if found == nil {
			break
		}
		text = text[max(1, found[1]):]
	}
	return read
}

func FuzzWiki(f *testing.F) {
	for _, seed := range []string{"", "h1. x\n*b* _i_ {code:java}x{code}", "||a||b||\n|c|d|", "[t|https://a.example] !a.png! [~u]", "{quote}x{quote}\\*", "{{x}} {color:red}y{color}",
		"* a\n** b\n# c", "{noformat}{code}", "*_*_", "\x00\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, wiki string) {
		got := readWiki(wiki, nil)
		if len(got) > 4*len(wiki)+8 {
			t.Fatalf("the text of %q has %d bytes", wiki, len(got))
		}
		if strings.ContainsAny(wiki, "{[!") {
			return // the content of tags is not displayed
		}
		want := words(wiki)
		if strings.Contains(wiki, "# ") || strings.Contains(wiki, "#\t") || strings.Contains(wiki, ". ") || strings.Contains(wiki, ".\t") || strings.ContainsAny(wiki, "\v\f\u0085") {
			return // headings lose their level, items get a number
		}
		if words(got) != want {
			t.Fatalf("the text of %q lacks words: %q", wiki, got)
		}
	})
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
