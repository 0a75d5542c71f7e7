package ticketfile

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// Generated texts contain characters that could break parsing, but not U+0000, which is removed.
var (
	texts = rapid.StringOf(rapid.OneOf(
		rapid.SampledFrom([]rune("aé😀 \",;\t\n\\'-{}[]:\uFEFF\uFFFD\u2028")),
		rapid.Rune().Filter(func(r rune) bool { return r != 0 && r != '\r' }),
	))
	names = rapid.Map(texts, func(s string) string { return strings.TrimSpace("n" + s) })
	keys  = rapid.StringMatching(`[A-Z]{1,3}-[0-9é"';,]{1,4}|[1-9][0-9]{0,20}`)
	dates = rapid.Map(rapid.Int64Range(0, 4e9), func(s int64) time.Time { return time.Unix(s, 0).UTC() })
)

// TestJSONRoundTrip writes tickets between blank and bad lines, and checks the tickets read and the
// line numbers of the bad lines.
func TestJSONRoundTrip(t *testing.T) {
	t.Parallel()
	folders := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		var file strings.Builder
		var want []Ticket
		var badLines []int
		line := 0
		for range rapid.IntRange(0, 8).Draw(t, "lines") {
			line++
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				file.WriteString(rapid.SampledFrom([]string{"", " ", "\r"}).Draw(t, "blank"))
			case 1:
				file.WriteString(rapid.SampledFrom([]string{"x", "{}", `{"ticket_id":1,"project_id":2,"name":[]}`}).Draw(t, "bad"))
				badLines = append(badLines, line)
			default:
				ticket := Ticket{
					Key:         keys.Draw(t, "key"),
					ProjectKey:  keys.Draw(t, "project"),
					Name:        names.Draw(t, "name"),
					Description: texts.Draw(t, "description"),
					Status:      names.Filter(func(s string) bool { return len(s) <= maxStatus }).Draw(t, "status"),
					CreatedAt:   dates.Draw(t, "created"),
				}
				for range rapid.IntRange(0, 2).Draw(t, "notes") {
					ticket.Notes = append(ticket.Notes, Note{Status: "Done", Text: names.Draw(t, "note"), CreatedAt: dates.Draw(t, "noted")})
				}
				want = append(want, ticket)
				file.WriteString(ticketJSON(t, ticket))
			}
			file.WriteString("\n")
		}
		tickets := rapid.SampledFrom([]string{"tickets.jsonl", "tickets.jsonl.gz"}).Draw(t, "name")
		folder := fresh(t, folders)
		write(t, folder, map[string]string{"projects.jsonl": "", tickets: file.String()})
		compare(t, open(t, folder), want, badLines)
	})
}

func ticketJSON(t *rapid.T, ticket Ticket) string {
	row := map[string]any{"ticket_id": ticket.Key, "project_id": ticket.ProjectKey, "name": ticket.Name,
		"description": ticket.Description, "status": ticket.Status, "created_at": ticket.CreatedAt}
	for _, field := range []string{"ticket_id", "project_id"} {
		if key := row[field].(string); strings.Trim(key, "0123456789") == "" && rapid.Bool().Draw(t, "as number") {
			row[field] = json.Number(key)
		}
	}
	var notes []map[string]any
	for _, n := range ticket.Notes {
		notes = append(notes, map[string]any{"status": n.Status, "note": n.Text, "created_at": n.CreatedAt})
	}
	row["notes"] = notes
	line, err := json.Marshal(row)
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	return string(line)
}

// TestCSVRoundTrip writes an export with encoding/csv that contains bad rows, and checks the
// tickets read and the line numbers of the bad rows.
func TestCSVRoundTrip(t *testing.T) {
	t.Parallel()
	folders := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		header := rapid.Permutation([]string{"Issue key", "Summary", "Project key", "Status", "Created", "Description", "Comment", "Comment", "Labels"}).Draw(t, "header")
		layout := rapid.SampledFrom([]string{"2/Jan/06 3:04 PM", "02/Jan/06 15:04", "2006-01-02 15:04", time.RFC3339}).Draw(t, "layout")
		var file bytes.Buffer
		if rapid.Bool().Draw(t, "mark") {
			file.WriteString("\uFEFF")
		}
		w := csv.NewWriter(&file)
		w.Comma = rapid.SampledFrom([]rune{',', ';', '\t'}).Draw(t, "comma")
		w.UseCRLF = rapid.Bool().Draw(t, "crlf")
		put := func(values map[string]string) (line int) {
			w.Flush()
			line = bytes.Count(file.Bytes(), []byte("\n")) + 1
			var record []string
			for _, column := range header {
				record = append(record, values[column])
			}
			if err := w.Write(record); err != nil {
				t.Fatalf("write record: %v", err)
			}
			return line
		}
		column := map[string]string{}
		for _, c := range header {
			column[c] = c
		}
		put(column)
		var want []Ticket
		var badLines []int
		for range rapid.IntRange(0, 8).Draw(t, "rows") {
			ticket := Ticket{
				Key:         keys.Draw(t, "key"),
				ProjectKey:  keys.Draw(t, "project"),
				Name:        names.Draw(t, "name"),
				Description: texts.Draw(t, "description"),
				Status:      names.Filter(func(s string) bool { return len(s) <= maxStatus }).Draw(t, "status"),
				CreatedAt:   dates.Draw(t, "created").Truncate(time.Minute),
			}
			if ticket.CreatedAt.Year() >= 2069 { // two-digit years mean 1969 to 2068
				ticket.CreatedAt = time.Time{}
			}
			row := map[string]string{"Issue key": ticket.Key, "Summary": ticket.Name, "Project key": ticket.ProjectKey,
				"Status": ticket.Status, "Description": ticket.Description, "Comment": texts.Draw(t, "comment"), "Labels": texts.Draw(t, "labels")}
			ticket.Description = clean(jiraText(ticket.Description))
			ticket.Labels, _ = checkLabels([]string{row["Labels"]})
			ticket.Comments = []Comment{}
			order := map[string]int{} // numbers comments without time and author
			if strings.TrimSpace(row["Comment"]) != "" {
				for range 2 {
					ticket.Comments = append(ticket.Comments, Comment{Key: madeKey("", time.Time{}, "", order), Body: strings.TrimSpace(clean(jiraText(row["Comment"])))})
				}
			}
			ticket.Comments = slices.DeleteFunc(ticket.Comments, func(c Comment) bool { return c.Body == "" })
			if !ticket.CreatedAt.IsZero() {
				row["Created"] = ticket.CreatedAt.Format(layout)
			}
			if rapid.IntRange(0, 3).Draw(t, "kind") == 0 {
				row[rapid.SampledFrom([]string{"Issue key", "Summary"}).Draw(t, "spoiled")] = " "
				badLines = append(badLines, put(row))
				continue
			}
			want = append(want, ticket)
			put(row)
		}
		w.Flush()
		name := rapid.SampledFrom([]string{"x.csv", "x.csv.gz"}).Draw(t, "name")
		folder := fresh(t, folders)
		write(t, folder, map[string]string{name: file.String()})
		compare(t, open(t, filepath.Join(folder, name)), want, badLines, cmpopts.IgnoreFields(Ticket{}, "Warnings"))
	})
}

func fresh(t *rapid.T, parent string) string {
	folder, err := os.MkdirTemp(parent, "")
	if err != nil {
		t.Fatalf("create a folder: %v", err)
	}
	return folder
}

func compare(t *rapid.T, r *Reader, want []Ticket, badLines []int, options ...cmp.Option) {
	t.Helper()
	good, bad, fatal := collect(t, r.Tickets())
	if fatal != nil {
		t.Fatalf("read: %v", fatal)
	}
	if diff := cmp.Diff(want, good, append(options, withoutPlace)...); diff != "" {
		t.Fatalf("tickets (-want +got):\n%s", diff)
	}
	var lines []int
	for _, b := range bad {
		lines = append(lines, b.Line)
	}
	if diff := cmp.Diff(badLines, lines); diff != "" {
		t.Fatalf("bad lines (-want +got):\n%s\n%v", diff, bad)
	}
}

// Reads ten thousand tickets of about 1,100 bytes from disk.
func BenchmarkTickets(b *testing.B) {
	text := strings.Repeat("The cart is \\\"empty\\\" after a while.\\n", 28)
	var lines, export strings.Builder
	export.WriteString("Issue key,Summary,Created,Description\n")
	for i := range 10_000 {
		fmt.Fprintf(&lines, `{"ticket_id":"S-%d","project_id":"S","name":"Cart is empty","description":"%s","status":"Done","created_at":"2025-03-14T09:12:00Z"}`+"\n", i, text)
		plain, err := strconv.Unquote(`"` + text + `"`)
		if err != nil {
			b.Fatal(err)
		}
		fmt.Fprintf(&export, "S-%d,Cart is empty,14/Mar/25 9:12 AM,\"%s\"\n", i, strings.ReplaceAll(plain, `"`, `""`))
	}
	folder := b.TempDir()
	write(b, folder, map[string]string{"projects.jsonl": "", "tickets.jsonl.gz": lines.String(), "x.csv.gz": export.String()})
	for name, path := range map[string]string{"jsonl.gz": folder, "csv.gz": filepath.Join(folder, "x.csv.gz")} {
		b.Run(name, func(b *testing.B) {
			r := open(b, path)
			b.ReportAllocs()
			for b.Loop() {
				if got := len(all(b, r.Tickets())); got != 10_000 {
					b.Fatalf("%d tickets were read, want 10,000", got)
				}
			}
		})
	}
}
