package load

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"tasklens/internal/audience"
)

// Files are those of a folder, in the order in which a stream has their lines. Any may be missing.
var Files = []string{"manifest.json", "projects.jsonl", "tickets.jsonl", "documents.jsonl"}

// maxRow bounds a line, in bytes.
const maxRow = 16 << 20

// ErrRows is returned for rows that cannot be read, or are not to be imported.
var ErrRows = errors.New("the files cannot be imported")

// Manifest is the first line: what follows, and what the converter says of the export.
type Manifest struct {
	Format         string   `json:"format"`
	Origin         string   `json:"origin"`           // "" if neither the files nor the caller named it
	OriginIsFolder bool     `json:"origin_is_folder"` // of documents: only the folder's name
	Projects       int      `json:"projects"`         // lines, as Tickets and Documents
	Tickets        int      `json:"tickets"`
	Documents      int      `json:"documents"`
	Whole          bool     `json:"whole"`      // nothing of the export is missing or left out by mistake
	Incomplete     string   `json:"incomplete"` // why the files themselves are not
	LeftOut        int      `json:"left_out"`   // rows
	Fields         int      `json:"fields"`     // left out of rows
	Repeated       int      `json:"repeated"`   // rows with the key of an earlier one
	Restricted     string   `json:"restricted"` // keep: what only some may read was asked for
	Paths          []string `json:"paths"`      // of all documents, also of those that cannot be read
}

// Row is a line: its members as the database names them, and where it stands in the export.
type Row struct {
	kind    string // manifest, or projects, tickets or documents
	members map[string]json.RawMessage
	raw     []byte
	place   string
	fault   string // why it is none
}

// bad says what is wrong with a row.
func (r Row) bad(reason string) error {
	if key := r.key(); key != "" {
		reason = key + ": " + reason
	}
	return errors.New(r.place + ": " + reason)
}

// key is what the row is called: its key, or the path of a document.
func (r Row) key() string { return cmp.Or(r.text("path"), r.text("key"), r.text("title")) }

func (r Row) text(member string) (text string) {
	_ = json.Unmarshal(r.members[member], &text) // what is no text has none
	return text
}

// Rows reads the files of a folder, or - for the standard input.
func Rows(folder string) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		if folder == "-" {
			read(os.Stdin, "line ", yield)
			return
		}
		for _, name := range Files {
			in, err := os.Open(filepath.Join(folder, name))
			switch {
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				yield(Row{}, fmt.Errorf("%w: %w", ErrRows, err))
				return
			case !read(in, in.Name()+":", yield):
				return
			}
		}
	}
}

// read reads lines, and closes the file. It reports whether more is wanted.
func read(in io.ReadCloser, name string, yield func(Row, error) bool) bool {
	defer in.Close()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxRow)
	n := 1
	for ; lines.Scan(); n++ {
		if line := bytes.TrimSpace(lines.Bytes()); len(line) > 0 && !yield(readRow(bytes.Clone(line), fmt.Sprint(name, n)), nil) {
			return false
		}
	}
	err := lines.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("the line is longer than %d MiB", maxRow>>20)
	}
	return err == nil || yield(Row{}, fmt.Errorf("%w: read %s%d: %w", ErrRows, name, n, err))
}

func readRow(line []byte, place string) Row {
	row := Row{raw: line, place: place, fault: "it has none of ticket_id, project_id and content"}
	if err := json.Unmarshal(line, &row.members); err != nil {
		row.fault = fmt.Sprintf("this is not a JSON object: %v", err)
		return row
	}
	// The last that it has counts: a ticket may also have members of other names.
	for _, kind := range [][2]string{{"format", "manifest"}, {"content", "documents"}, {"project_id", "projects"}, {"ticket_id", "tickets"}} {
		if row.members[kind[0]] != nil {
			row.kind, row.fault = kind[1], ""
		}
	}
	if file := row.text("file"); file != "" {
		row.place = strings.TrimSuffix(fmt.Sprintf("%s:%s", file, row.members["line"]), ":")
	}
	names := map[string]string{"file": "", "line": "", "ticket_id": "key", "project_id": "project_key"}
	if row.kind == "projects" {
		names["project_id"] = "key"
	}
	for name, ours := range names {
		if value := row.members[name]; value != nil && ours != "" {
			row.members[ours] = value
		}
		delete(row.members, name)
	}
	return row
}

// limit says why not everybody may read a row, and drops the comments and notes of a ticket of
// which that is so, with the reasons.
func (r *Row) limit() (why string, dropped []string) {
	for _, list := range []string{"comments", "notes"} {
		var items []json.RawMessage
		_ = json.Unmarshal(r.members[list], &items) // the database says what is no list
		kept := make([]json.RawMessage, 0, len(items))
		for _, item := range items {
			if limit := audience.OfComment(string(item)); limit.Why != "" {
				dropped = append(dropped, list+" that not everybody may read, left out: "+limit.Why)
			} else {
				kept = append(kept, item)
			}
		}
		if len(kept) < len(items) {
			r.members[list], _ = json.Marshal(kept) // of valid JSON
		}
	}
	return cmp.Or(audience.Of(r.kind == "tickets", "", string(r.raw)).Why, audience.OfText(r.text("content")).Why), dropped
}
