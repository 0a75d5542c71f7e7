package export

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	oneProject = `{"project_id":"S","name":"Shop"}` + "\n"
	oneTicket  = `{"ticket_id":"S-1","project_id":"S","name":"n"}` + "\n"
	oneExport  = "Issue key,Summary\nS-1,n\n"
)

func TestOpenForms(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		open  string
	}{
		"plain folder":          {map[string]string{"projects.jsonl": oneProject, "tickets.jsonl": oneTicket, "other": "x"}, ""},
		"gzipped folder":        {map[string]string{"projects.jsonl.gz": oneProject, "tickets.jsonl.gz": oneTicket}, ""},
		"mixed folder":          {map[string]string{"projects.jsonl": oneProject, "tickets.jsonl.gz": "\uFEFF" + oneTicket}, ""},
		"export":                {map[string]string{"x.csv": oneExport}, "x.csv"},
		"gzipped export":        {map[string]string{"x.csv.gz": "\uFEFF" + oneExport}, "x.csv.gz"},
		"separated by tabs":     {map[string]string{"x.tsv": strings.ReplaceAll(oneExport, ",", "\t")}, ""},
		"Excel's Unicode text":  {map[string]string{"x.txt": strings.ReplaceAll(oneExport, ",", "\t")}, "x.txt"},
		"file name in capitals": {map[string]string{"X.CSV": oneExport}, "X.CSV"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			write(t, folder, c.files)
			r := open(t, filepath.Join(folder, c.open))
			for range 2 { // rows can be read repeatedly
				if got := one(t, r.Tickets()); got.Key != "S-1" || got.ProjectKey != "S" {
					t.Errorf("the ticket is %+v", got)
				}
				if got := one(t, r.Projects()); got.Key != "S" {
					t.Errorf("the project is %+v", got)
				}
			}
		})
	}
}

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files   map[string]string
		open    string
		message string
	}{
		"missing file":               {nil, "none", "no such file"},
		"empty folder":               {nil, "", "holds 0 of projects.jsonl and projects.jsonl.gz: a folder to import holds exports, or projects.jsonl and tickets.jsonl"},
		"folder without tickets":     {map[string]string{"projects.jsonl": ""}, "", "holds 0 of tickets.jsonl and tickets.jsonl.gz"},
		"plain and gzipped projects": {map[string]string{"projects.jsonl": "", "projects.jsonl.gz": "", "tickets.jsonl": ""}, "", "holds 2 of projects.jsonl and projects.jsonl.gz"},
		"only the file of tickets":   {map[string]string{"tickets.jsonl": ""}, "tickets.jsonl", "the file is empty"},
		"other format":               {map[string]string{"x.xlsx": ""}, "x.xlsx", "is neither a folder"},
		"empty export":               {map[string]string{"x.csv": "\n\n"}, "x.csv", "the file is empty"},
		"other columns":              {map[string]string{"x.csv": "id,title\n1,n\n"}, "x.csv", `names the columns Issue key and Summary, which a CSV export from Jira has, or ID, Team and Title, which one from Linear has, or URL, Title and State, which one from GitLab has, but "id,title"`},
		"only one of two columns":    {map[string]string{"x.csv": "Summary,Key\n"}, "x.csv", "names the columns Issue key and Summary"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			write(t, folder, c.files)
			_, err := Open(filepath.Join(folder, c.open))
			if err == nil || !strings.Contains(err.Error(), c.message) || !strings.HasPrefix(err.Error(), "open import: ") {
				t.Errorf("the error is %v, want open import: … %q", err, c.message)
			}
		})
	}
	t.Run("folder with a file's name", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		write(t, folder, map[string]string{"tickets.jsonl": ""})
		if err := os.Mkdir(filepath.Join(folder, "projects.jsonl"), 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(folder); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
			t.Errorf("the error is %v", err)
		}
	})
	for _, name := range []string{"tickets.jsonl.gz", "x.csv.gz"} {
		t.Run("invalid gzip: "+name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			write(t, folder, map[string]string{"projects.jsonl": ""})
			path := filepath.Join(folder, name)
			if err := os.WriteFile(path, []byte(oneTicket), 0o600); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(name, "tickets") {
				path = folder
			}
			if _, err := Open(path); !errors.Is(err, gzip.ErrHeader) {
				t.Errorf("the error is %v, want %v", err, gzip.ErrHeader)
			}
		})
	}
}

// manyTickets returns n valid lines, or CSV rows after a header, with text that barely compresses.
func manyTickets(n int, csv bool) string {
	random := rand.New(rand.NewPCG(1, 2))
	var out strings.Builder
	if csv {
		out.WriteString("Issue key,Summary,Description\n")
	}
	for i := range n {
		text := fmt.Sprintf("%x%x", random.Uint64(), random.Uint64())
		if csv {
			fmt.Fprintf(&out, "S-%d,n,\"%s\n\"\n", i, text)
		} else {
			fmt.Fprintf(&out, `{"ticket_id":"S-%d","project_id":"S","name":"n","description":"%s"}`+"\n", i, text)
		}
	}
	return out.String()
}

func TestDamagedGzip(t *testing.T) {
	t.Parallel()
	const rows = 4_000
	for name, csv := range map[string]bool{"tickets.jsonl.gz": false, "x.csv.gz": true} {
		whole := zip(t, manyTickets(rows, csv))
		checksum := append([]byte(nil), whole...)
		checksum[len(checksum)-8] ^= 1
		for damage, c := range map[string]struct {
			data []byte
			want error
		}{
			"half of the file":  {whole[:len(whole)/2], io.ErrUnexpectedEOF},
			"last byte missing": {whole[:len(whole)-1], io.ErrUnexpectedEOF},
			"wrong checksum":    {checksum, gzip.ErrChecksum},
		} {
			t.Run(name+" "+damage, func(t *testing.T) {
				t.Parallel()
				folder := t.TempDir()
				write(t, folder, map[string]string{"projects.jsonl": ""})
				path := filepath.Join(folder, name)
				if err := os.WriteFile(path, c.data, 0o600); err != nil {
					t.Fatal(err)
				}
				if !csv {
					path = folder
				}
				good, bad, fatal := collect(t, open(t, path).Tickets())
				if !errors.Is(fatal, c.want) || !strings.Contains(fmt.Sprint(fatal), "read "+filepath.Join(folder, name)) {
					t.Errorf("reading ended with %v, want %v", fatal, c.want)
				}
				if len(bad) > 0 {
					t.Errorf("a row truncated by the damage was reported as bad: %v", bad[0])
				}
				if len(good) < rows/4 || len(good) > rows {
					t.Errorf("%d rows were read before the damage", len(good))
				}
				for i, ticket := range good {
					if want := fmt.Sprintf("S-%d", i); ticket.Key != want || len(ticket.Description) < 16 {
						t.Fatalf("row %d was read as %+v", i, ticket)
					}
				}
			})
		}
	}
}

func TestStoppedPasses(t *testing.T) {
	t.Parallel()
	r := openTickets(t, oneTicket+"{}\n"+oneTicket)
	seen := 0
	for _, err := range r.Tickets() {
		if seen++; err != nil { // stopping at a bad row must also end reading
			break
		}
	}
	if seen != 2 {
		t.Errorf("%d rows were read, want 2", seen)
	}
}
