package export

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxFile bounds a file. A longer one is not a note.
const maxFile = 4 << 20

// notes are a folder of Markdown files.
type notes struct {
	name       string      // the folder's
	isFolder   bool        // whether it was named, rather than a file in it
	files      []string    // Markdown, below the folder
	restricted string      // as in Options
	links      links       // in the folder
	known      []string    // these, and of a single file those beside it, by which its folder is known
	exports    []*RowError // files of the folder itself that are not imported with notes
	where      string      // the folder
	root       fs.FS
}

// isImport reports whether an import of this path means notes: a Markdown file, or a folder with
// some and without tickets.
func (n *notes) isImport(where string) bool {
	if lines, _ := fs.Glob(os.DirFS(where), "*.jsonl*"); len(lines) > 0 { // tickets, though incomplete
		return false
	}
	return len(n.files) > 0 && (len(n.exports) == 0 || probe(where) != nil) // a README beside exports
}

// openNotes lists the files in a folder and below, or a single file. It skips hidden folders and
// links.
func openNotes(where string) (*notes, error) {
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
	n := &notes{where: root, root: os.DirFS(root), name: filepath.Base(root), isFolder: info.IsDir()}
	err = fs.WalkDir(n.root, ".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && file != "." && (start != "." || strings.HasPrefix(entry.Name(), ".")):
			return fs.SkipDir
		case file != start && (n.links.skip(file, entry) || !entry.Type().IsRegular()):
		case slices.Contains([]string{".md", ".markdown"}, strings.ToLower(path.Ext(file))):
			n.known = append(n.known, file)
			if start == "." || start == file {
				n.files = append(n.files, file)
			}
		case start == "." && path.Dir(file) == "." && isExport(file):
			n.exports = append(n.exports, &RowError{File: file})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for notes in %s: %w", where, err)
	}
	return n, nil
}

// all yields the notes in the order of their paths, until yield fails. A file that cannot be read,
// or may be an export, is a [RowError].
func (n *notes) all(yield func(Document, error) error) error {
	for _, export := range n.exports {
		err := probe(filepath.Join(n.where, export.File))
		if err == nil {
			err = errors.New("it is an export of tickets, which is imported by its own path")
		}
		export.Reason = err.Error()
		if err := yield(Document{}, export); err != nil {
			return err
		}
	}
	for _, file := range n.files {
		note, err := n.read(file)
		if errors.Is(err, errPrivate) { // pruning removes it
			n.known = slices.DeleteFunc(n.known, func(known string) bool { return known == file })
		}
		if err != nil {
			err = &RowError{File: file, Reason: err.Error()}
		}
		if err := yield(note, err); err != nil {
			return err
		}
	}
	return nil
}

func (n *notes) read(file string) (Document, error) {
	in, err := n.root.Open(file)
	if err != nil {
		return Document{}, err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(Decode(in), maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("it is longer than %d bytes", maxFile)
	}
	if err != nil {
		return Document{}, err
	}
	note, err := parseNote(string(text), n.restricted)
	if note.Title == "" {
		note.Title = titleOfPath(file)
	}
	note.Path, note.File = file, file
	return note, err
}

func titleOfPath(file string) string { return strings.TrimSuffix(path.Base(file), path.Ext(file)) }
