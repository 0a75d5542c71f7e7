package export

import (
	"io"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

var encodings = map[string]encoding.Encoding{
	"UTF-8":    unicode.UTF8BOM,
	"UTF-16LE": unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), "UTF-16BE": unicode.UTF16(unicode.BigEndian, unicode.UseBOM),
	"UTF-32LE": utf32.UTF32(utf32.LittleEndian, utf32.UseBOM), "UTF-32BE": utf32.UTF32(utf32.BigEndian, utf32.UseBOM),
}

const foreign = "Łódź – Київ 🚲"

// The mark of an encoding is obeyed, in every format.
func TestMarkedEncodings(t *testing.T) {
	t.Parallel()
	for name, e := range encodings {
		for file, text := range map[string]string{
			"x.csv":         "Issue key\tSummary\nS-1\t" + foreign + "\n",
			"x.json.gz":     `[{"number":1,"title":"` + foreign + `","url":"https://github.com/a/s/issues/1"}]`,
			"tickets.jsonl": `{"ticket_id":"S-1","project_id":"S","name":"` + foreign + `"}`,
		} {
			encoded, err := e.NewEncoder().String(text)
			if err != nil {
				t.Fatal(err)
			}
			path := writeOne(t, file, encoded)
			if got := one(t, open(t, path).Tickets()); got.Name != foreign {
				t.Errorf("%s in %s: the name is %q", file, name, got.Name)
			}
		}
	}
}

// What is not valid in a file's encoding costs the row that has it, and is never stored as another
// text.
func TestInvalidTextIsRefused(t *testing.T) {
	t.Parallel()
	half := "\x3d\xd8" // of a pair in UTF-16
	for name, c := range map[string]struct{ file, text, bad string }{
		"CSV in Latin-1":           {"x.csv", "Issue key,Summary\nS-1,good\nS-2,caf\xe9\n", "3"},
		"CSV with NUL bytes":       {"x.csv", "Issue key,Summary\nS-2,ca\x00fe\nS-1,good\n", "2"},
		"CSV in UTF-16, half":      {"x.csv", "\xff\xfe" + wide("Issue key,Summary\nS-1,good\nS-2,") + half + wide("x\n"), "3"},
		"CSV in UTF-16, cut":       {"x.csv", "\xff\xfe" + wide("Issue key,Summary\nS-1,good\nS-2,a") + "b", "3"},
		"JSON in Latin-1":          {"x.json", `[{"number":2,"title":"caf` + "\xe9" + `","url":"https://github.com/a/s/issues/2"},{"number":1,"title":"good","url":"https://github.com/a/s/issues/1"}]`, "1"},
		"JSON Lines in Latin-1":    {"tickets.jsonl", oneTicket + `{"ticket_id":"S-2","project_id":"S","name":"caf` + "\xe9\"}", "2"},
		"JSON Lines, UTF-32 wrong": {"tickets.jsonl", "\xff\xfe\x00\x00" + wider(oneTicket+`{"ticket_id":"S-2","project_id":"S","name":"`) + "\x00\x00\x11\x00" + wider("\"}"), "2"},
	} {
		path := writeOne(t, c.file, c.text)
		good, bad, fatal := collect(t, open(t, path).Tickets())
		if fatal != nil || len(good) != 1 || good[0].Key != "S-1" || len(bad) != 1 || !strings.Contains(bad[0].Error(), c.file+":"+c.bad) || !strings.Contains(bad[0].Reason, "save the file as UTF-8") {
			t.Errorf("%s: %v, %v, %v", name, good, bad, fatal)
		}
	}
	for name, text := range map[string]string{
		"x.csv": wide("Issue key,Summary\nS-1,n\n"), "x.json": wide("[]"), "y.csv": "Issue key,Summary,Priorit\xe4t\nS-1,n,\n", "z.csv": wide("Ключ,Issue key,Summary\n"),
	} {
		if _, err := Open(writeOne(t, name, text)); err == nil || !strings.Contains(err.Error(), "save the file as UTF-8") {
			t.Errorf("%s without a mark: %v", name, err)
		}
	}
}

func wide(text string) string {
	encoded, _ := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewEncoder().String(text)
	return encoded
}

func wider(text string) string {
	encoded, _ := utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM).NewEncoder().String(text)
	return encoded
}

// Decoding does not depend on how the bytes come.
func TestDecodeInPieces(t *testing.T) {
	t.Parallel()
	text := strings.Repeat(foreign+"\uFFFC", 500)
	for name, e := range encodings {
		encoded, _ := e.NewEncoder().String(text)
		pipe, w := io.Pipe()
		go func() {
			for i := range len(encoded) {
				_, _ = w.Write([]byte(encoded[i : i+1]))
			}
			w.Close()
		}()
		if got, err := io.ReadAll(Decode(pipe)); string(got) != text || CheckText(got) != nil {
			t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(text), err)
		}
	}
	if got, _ := io.ReadAll(Decode(strings.NewReader(""))); len(got) != 0 {
		t.Errorf("an empty file has %q", got)
	}
}
