package load

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"tasklens/internal/ticketfile"
)

// maxFile bounds a file. A longer one is not a note.
const maxFile = 4 << 20

// pathSpace is the namespace of the ids derived from paths.
var pathSpace = uuid.MustParse("0fd2fd5c-5c1f-4d7e-9f3b-7c1f8a2f6f5e")

// IDOfPath returns the id of the document that a note is imported as, a version 5 UUID: the same
// path in the same origin is the same document.
func IDOfPath(origin, path string) string {
	return uuid.NewSHA1(uuid.NewSHA1(pathSpace, []byte(origin)), []byte(path)).String()
}

// Notes are a folder of Markdown files.
type Notes struct {
	Name       string           // the origin: the folder's name, unless the caller sets it
	Files      []string         // Markdown, below the folder
	Restricted string           // as of a ticketfile.Reader
	Links      ticketfile.Links // in the folder
	known      []string         // these, and of a single file those beside it, by which its folder is known
	root       fs.FS

	exports []*ticketfile.RowError // files of the folder itself that are not imported with notes
}

// HasNotes reports whether an import of this path means notes: a Markdown file, or a folder with
// some and without tickets.
func HasNotes(where string) bool {
	if lines, _ := fs.Glob(os.DirFS(where), "*.jsonl*"); len(lines) > 0 { // tickets, though incomplete
		return false
	}
	if _, err := ticketfile.Open(where); err == nil { // a README beside exports
		return false
	}
	notes, err := OpenNotes(where)
	return err == nil && len(notes.Files) > 0
}

// OpenNotes lists the files in a folder and below, or a single file. It skips hidden folders and
// links.
func OpenNotes(where string) (*Notes, error) {
	absolute, err := filepath.Abs(where)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(absolute)
	if err != nil {
		return nil, err
	}
	root, start := absolute, "."
	if !info.IsDir() {
		root, start = filepath.Split(absolute)
	}
	n := &Notes{root: os.DirFS(root), Name: filepath.Base(root)}
	err = fs.WalkDir(n.root, ".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && file != "." && (start != "." || strings.HasPrefix(entry.Name(), ".")):
			return fs.SkipDir
		case file != start && (n.Links.Skip(file, entry) || !entry.Type().IsRegular()):
		case slices.Contains([]string{".md", ".markdown"}, strings.ToLower(path.Ext(file))):
			n.known = append(n.known, file)
			if start == "." || start == file {
				n.Files = append(n.Files, file)
			}
		case start == "." && path.Dir(file) == "." && ticketfile.IsExport(file):
			_, err := ticketfile.Open(filepath.Join(root, file))
			if err == nil {
				err = errors.New("it is an export of tickets, which is imported by its own path")
			}
			n.exports = append(n.exports, &ticketfile.RowError{File: file, Reason: err.Error()})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for notes in %s: %w", where, err)
	}
	return n, nil
}

// Len returns the number of files.
func (n *Notes) Len() int { return len(n.Files) + len(n.exports) }

// All yields the notes in the order of their paths. A document is identified by Name and the file's
// path below the folder, wherever that is. A file that cannot be read, or may be an export, yields
// a [ticketfile.RowError], and iteration continues.
func (n *Notes) All() iter.Seq2[Note, error] {
	return func(yield func(Note, error) bool) {
		for _, export := range n.exports {
			if !yield(Note{}, export) {
				return
			}
		}
		for _, file := range n.Files {
			note, err := n.read(file)
			if errors.Is(err, errPrivate) { // pruning removes it
				n.known = slices.DeleteFunc(n.known, func(known string) bool { return known == file })
			}
			if err != nil {
				err = &ticketfile.RowError{File: file, Reason: err.Error()}
			}
			if !yield(note, err) {
				return
			}
		}
	}
}

// ids are those of all files, also of those that cannot be read, without what is private.
func (n *Notes) ids() []string {
	ids := make([]string, len(n.known))
	for i, file := range n.known {
		ids[i] = IDOfPath(n.Name, file)
	}
	return ids
}

func (n *Notes) read(file string) (Note, error) {
	in, err := n.root.Open(file)
	if err != nil {
		return Note{}, err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(ticketfile.Decode(in), maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("it is longer than %d bytes", maxFile)
	}
	if err != nil {
		return Note{}, err
	}
	note, err := parseNote(string(text), n.Restricted)
	if note.Title == "" {
		note.Title = strings.TrimSuffix(path.Base(file), path.Ext(file))
	}
	note.ID, note.Origin, note.File = IDOfPath(n.Name, file), n.Name, file
	return note, err
}
