package migrate

import (
	"strings"
	"unicode/utf8"
)

// Statement is one SQL statement of a file, with the comments before it and without its semicolon.
type Statement struct {
	Text string

	line int // of the file, counted from 1, where Text begins
	code int // byte offset in Text of the first word after leading comments; len(Text) where there is none
}

// Split cuts SQL into its statements, as psql does: a semicolon ends one unless it stands in a comment (which may be
// nested), a quoted string or name, a dollar-quoted body, parentheses, or a `begin atomic … end` function body. The
// white space around a statement is cut off, and what is left empty is left out; a comment alone is a statement.
//
// Broken SQL is not found out here: an unclosed quote runs to the end, and Postgres says what is wrong with it.
//
// Source of the rules: psql's scanner, src/fe_utils/psqlscan.l of PostgreSQL. The Supabase CLI cuts the same way, but
// for parentheses within parentheses that hold a semicolon (as in `create rule … do also (…; …)`), where it cuts too early.
func Split(sql string) []Statement {
	sql = strings.TrimPrefix(sql, "\ufeff")
	s := scanner{sql: sql, code: -1}
	for s.at < len(sql) {
		s.step()
	}
	s.cut(len(sql))
	return s.statements
}

// scanner walks over SQL; its fields but the first two describe the statement that it is in.
type scanner struct {
	sql        string
	statements []Statement

	at     int    // offset of what is read next
	start  int    // offset where the statement begins
	code   int    // offset of its first word after comments, or -1
	parens int    // open parentheses
	blocks int    // open `begin atomic` and `case` in a function's body
	head   string // initials of its first words, as far as they could begin a `create function`
	words  int    // words read so far
}

// step reads one token.
func (s *scanner) step() {
	rest := s.sql[s.at:]
	switch c := rest[0]; {
	case c == ';' && s.parens == 0 && s.blocks == 0:
		s.cut(s.at)
		s.at++
		s.start, s.code, s.head, s.words = s.at, -1, "", 0
		return
	case strings.IndexByte(space, c) >= 0:
		s.at++
		return
	case strings.HasPrefix(rest, "--"):
		s.at += upTo(rest, 0, "\n")
		return
	case strings.HasPrefix(rest, "/*"):
		s.at += blockComment(rest)
		return
	}
	if s.code < 0 {
		s.code = s.at
	}
	switch c := rest[0]; {
	case c == '\'' || c == '"':
		s.at += quoted(rest, c, false)
	case c == '$':
		s.at += dollarQuoted(rest)
	case c == '(':
		s.parens++
		s.at++
	case c == ')':
		s.parens = max(0, s.parens-1)
		s.at++
	case wordLength(rest) > 0:
		word := rest[:wordLength(rest)]
		s.at += len(word)
		s.keyword(strings.ToLower(word))
		// E'…' is the one kind of string in which a backslash hides a quote.
		if tail := rest[len(word):]; strings.EqualFold(word, "e") && strings.HasPrefix(tail, "'") {
			s.at += quoted(tail, '\'', true)
		}
	case c >= '0' && c <= '9':
		// A number takes the letters and dollars behind it along, or `1$a$` would open a quote.
		s.at += 1 + wordRun(rest[1:])
	default:
		s.at++
	}
}

// keyword counts the depth of a function body written as `begin atomic … end`: only there do semicolons stand
// unquoted, and only there do `begin`, `case` and `end` have this meaning.
func (s *scanner) keyword(word string) {
	s.words++
	if s.words <= 4 {
		switch word {
		case "create", "or", "replace", "function", "procedure":
			s.head += word[:1]
		default:
			s.head += "?"
		}
	}
	function := strings.HasPrefix(s.head, "cf") || strings.HasPrefix(s.head, "cp") ||
		strings.HasPrefix(s.head, "corf") || strings.HasPrefix(s.head, "corp")
	if !function || s.parens > 0 {
		return
	}
	switch {
	case word == "begin", word == "case" && s.blocks > 0:
		s.blocks++
	case word == "end" && s.blocks > 0:
		s.blocks--
	}
}

// cut ends the statement before offset end.
func (s *scanner) cut(end int) {
	raw := s.sql[s.start:end]
	text := strings.Trim(raw, space)
	if text == "" {
		return
	}
	begin := s.start + strings.Index(raw, text)
	code := len(text)
	if s.code >= 0 {
		code = s.code - begin
	}
	s.statements = append(s.statements, Statement{
		Text: text,
		line: 1 + strings.Count(s.sql[:begin], "\n"),
		code: code,
	})
}

// lineAt is the line of the file on which the character at a position stands; Postgres counts characters from 1, and
// says 0 where it knows none.
func (s Statement) lineAt(position int) int {
	offset := s.code
	if position > 0 {
		offset = 0
		for ; position > 1 && offset < len(s.Text); position-- {
			_, size := utf8.DecodeRuneInString(s.Text[offset:])
			offset += size
		}
	}
	return s.line + strings.Count(s.Text[:offset], "\n")
}

// title is the statement's first line of code, shortened to be told to a person.
func (s Statement) title() string {
	const most = 80
	title, _, _ := strings.Cut(s.Text[s.code:], "\n")
	if title = strings.TrimSpace(title); utf8.RuneCountInString(title) > most {
		title = string([]rune(title)[:most]) + "…"
	}
	return title
}
