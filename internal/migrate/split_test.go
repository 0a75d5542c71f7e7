package migrate

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func texts(statements []Statement) []string {
	out := make([]string, len(statements))
	for i, s := range statements {
		out[i] = s.Text
	}
	return out
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sql  string
		want []string
	}{
		"nothing":              {"", nil},
		"white space":          {" \r\n\t", nil},
		"empty statements":     {";; ;\n;", nil},
		"last without end":     {"select 1;\nselect 2\n", []string{"select 1", "select 2"}},
		"space before the end": {"select 1 \n ;", []string{"select 1"}},
		"byte order mark":      {"\ufeffselect 1;\r\nselect 2;\r\n", []string{"select 1", "select 2"}},

		"comment goes with the next":   {"select 1; -- a;\nselect 2;", []string{"select 1", "-- a;\nselect 2"}},
		"comment alone":                {"-- only; this", []string{"-- only; this"}},
		"comment at the end":           {"select 1 -- last;", []string{"select 1 -- last;"}},
		"quote in a comment":           {"select 1 -- don't\n; select 2", []string{"select 1 -- don't", "select 2"}},
		"nested comment":               {"/* a /* ; */ ; */ select 1; select 2", []string{"/* a /* ; */ ; */ select 1", "select 2"}},
		"operators are no comments":    {"select 4 / 2 - 1 * 3; select 2", []string{"select 4 / 2 - 1 * 3", "select 2"}},
		"comment that is left open":    {"select 1; /* ; ", []string{"select 1", "/* ;"}},
		"comment mark in a string":     {"select '--'; select '/*'; select 2", []string{"select '--'", "select '/*'", "select 2"}},
		"doubled quote":                {"select 'a'';b'; select 2", []string{"select 'a'';b'", "select 2"}},
		"backslash is a letter":        {`select 'a\'; select 2`, []string{`select 'a\'`, "select 2"}},
		"backslash in an E string":     {`select E'\';', e'\\'; select 2`, []string{`select E'\';', e'\\'`, "select 2"}},
		"doubled quote in an E string": {"select E'''\\';'; select 2", []string{"select E'''\\';'", "select 2"}},
		"E string in two parts":        {"select E'a'\n  '\\';'; select 2", []string{"select E'a'\n  '\\';'", "select 2"}},
		"a name that ends in e":        {`select date'2020\'; select 2`, []string{`select date'2020\'`, "select 2"}},
		"quoted name":                  {`select 1 as "a""b;'"; select 2`, []string{`select 1 as "a""b;'"`, "select 2"}},
		"string that is left open":     {"select 1; select 'a; b", []string{"select 1", "select 'a; b"}},
		"dollar quote":                 {"select $$a;'b$$; select 2", []string{"select $$a;'b$$", "select 2"}},
		"dollar quote with a tag":      {"do $a$ $b$;$$;$b$; $a$; select 2", []string{"do $a$ $b$;$$;$b$; $a$", "select 2"}},
		"tag with other letters":       {"do $é1_$;$é1_$; select 2", []string{"do $é1_$;$é1_$", "select 2"}},
		"dollar in a name":             {"select a$b$c; select 2 as d$b$", []string{"select a$b$c", "select 2 as d$b$"}},
		"parameter":                    {"select $1; select $2", []string{"select $1", "select $2"}},
		"number before a dollar":       {"select 1$a$; select 2$a$", []string{"select 1$a$", "select 2$a$"}},
		"semicolons in a rule":         {"create rule r as on insert to a do also (delete from b; delete from c (d)); select 2", []string{"create rule r as on insert to a do also (delete from b; delete from c (d))", "select 2"}},
		"parenthesis in a string":      {"select (')'); select 2", []string{"select (')')", "select 2"}},
		"too many closed":              {"select 1); select (2)", []string{"select 1)", "select (2)"}},
		"atomic body":                  {"create function f() returns int begin atomic select 1; select 2; end; select 3", []string{"create function f() returns int begin atomic select 1; select 2; end", "select 3"}},
		"case in an atomic body":       {"create or replace procedure f() BEGIN ATOMIC select case 1 when 1 then 2 END; select 2; END; select 3", []string{"create or replace procedure f() BEGIN ATOMIC select case 1 when 1 then 2 END; select 2; END", "select 3"}},
		"begin of a transaction":       {"begin; select 1; end; select case 1 when 1 then 2 end; select 3", []string{"begin", "select 1", "end", "select case 1 when 1 then 2 end", "select 3"}},
		"words of a body as columns":   {"create table t (atomic text, \"begin\" text, case_x text); select 3", []string{"create table t (atomic text, \"begin\" text, case_x text)", "select 3"}},
		"begin after a function":       {"create function f() returns int as 'x'; begin; select 1", []string{"create function f() returns int as 'x'", "begin", "select 1"}},
		"begin in a function's names":  {"create function f(begin int) returns int as 'x'; select 3", []string{"create function f(begin int) returns int as 'x'", "select 3"}},
	} {
		if got := texts(Split(c.sql)); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, c.want)
		}
	}
}

// Pieces in which a semicolon may stand and ends nothing, however they are put together.
var pieces = []string{
	"select", "a", "E", "1.5e3", "$1", "+", "-", "/", "*", ",", ".", "::text", "end", "begin", "case",
	"'x'", "';'", "''';'", `'\'`, `E'\';'`, `";"`, `"a"";"`, "$$;$$", "$$'$$", "$t$;$$ $t$", "$_é$;$t$;$_é$",
	"(;)", "('(';(;))", "/*;*/", "/* ' /*;*/ ;*/", "-- ;'$$\n", "é", "日本",
}

func TestSplitProperty(t *testing.T) {
	t.Parallel()
	statement := rapid.Custom(func(t *rapid.T) string {
		// A space between two pieces, or they could be one word, or a string and its continuation.
		return strings.TrimSpace(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 8).Draw(t, "pieces"), " "))
	})
	gap := rapid.SampledFrom([]string{";", ";\n", " ; ", ";;", "\n;\r\n", ";\t;\n\n"})
	rapid.Check(t, func(t *rapid.T) {
		var sql strings.Builder
		var want []string
		for range rapid.IntRange(0, 6).Draw(t, "statements") {
			s := statement.Draw(t, "statement")
			// A trailing line comment needs its line end, which is white space that belongs to nobody.
			sql.WriteString(s + "\n" + gap.Draw(t, "gap"))
			want = append(want, s)
		}
		got := Split(sql.String())
		if !slices.Equal(texts(got), want) {
			t.Fatalf("Split(%q)\n got %q\nwant %q", sql.String(), texts(got), want)
		}
		for _, s := range got {
			lines := strings.Split(sql.String(), "\n")
			first, _, _ := strings.Cut(s.Text, "\n")
			if !strings.Contains(lines[s.line-1], first) {
				t.Fatalf("statement %q is not on line %d of %q", s.Text, s.line, sql.String())
			}
		}
	})
}

// Whatever the text is, Split ends, and nothing is lost but white space and semicolons.
func TestSplitKeepsEverything(t *testing.T) {
	t.Parallel()
	bare := strings.NewReplacer(";", "", "\ufeff", "", " ", "", "\t", "", "\r", "", "\n", "", "\f", "", "\v", "").Replace
	marks := []string{";", "'", `"`, "$", "$$", "/*", "*/", "--", "(", ")", "\n", " ", `\`, "create function begin"}
	rapid.Check(t, func(t *rapid.T) {
		sql := strings.Join(rapid.SliceOf(rapid.OneOf(
			rapid.SampledFrom(marks), rapid.SampledFrom(pieces), rapid.String(),
		)).Draw(t, "sql"), "")
		var kept strings.Builder
		for _, s := range Split(sql) {
			kept.WriteString(s.Text)
			if s.code < 0 || s.code > len(s.Text) {
				t.Fatalf("code of %q begins at %d", s.Text, s.code)
			}
		}
		if bare(kept.String()) != bare(sql) {
			t.Fatalf("%q became %q", sql, kept.String())
		}
	})
}

func TestLineAt(t *testing.T) {
	t.Parallel()
	sql := "select 1;\n\n-- about\n/* x\n */ select 'é',\n  wrong;\n"
	s := Split(sql)[1]
	for position, want := range map[int]int{
		0:                           5, // no position: the line of the first word
		1:                           3,
		len("-- about\n") + 1:       4,
		strings.Count(s.Text, ""):   6, // past the end, in characters
		len(s.Text) + 100:           6,
		len([]rune(s.Text)) - 4:     6,
		len([]rune(s.Text)) - 4 - 3: 5,
	} {
		if got := s.lineAt(position); got != want {
			t.Errorf("position %d: line %d, want %d", position, got, want)
		}
	}
	if got, want := s.title(), "select 'é',"; got != want {
		t.Errorf("title %q, want %q", got, want)
	}
}
