package knowledge

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
)

// maxFile bounds a file. A longer one is not a note.
const maxFile = 4 << 20

// Notes are a folder of Markdown files.
type Notes struct {
	Name  string // the first part of the paths; the folder's own, unless the caller sets it
	path  string
	files []string // relative, with slashes
}

// HasNotes reports whether an import of this path means notes: a Markdown file, or a folder with
// some and without tickets.
func HasNotes(where string) bool {
	for _, tickets := range []string{"projects.jsonl", "projects.jsonl.gz", "tickets.jsonl", "tickets.jsonl.gz"} {
		if _, err := os.Stat(filepath.Join(where, tickets)); err == nil {
			return false
		}
	}
	folder, err := OpenNotes(where)
	return err == nil && len(folder.files) > 0
}

// OpenNotes lists the files in a folder and below, or a single file. It skips hidden folders and
// symbolic links.
func OpenNotes(where string) (*Notes, error) {
	absolute, err := filepath.Abs(where)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(absolute)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		f := &Notes{path: filepath.Dir(absolute)}
		f.Name = filepath.Base(f.path)
		if info.Mode().IsRegular() && isMarkdown(absolute) {
			f.files = []string{filepath.Base(absolute)}
		}
		return f, nil
	}
	f := &Notes{path: absolute, Name: filepath.Base(absolute)}
	err = fs.WalkDir(os.DirFS(absolute), ".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && file != ".":
			return fs.SkipDir
		case entry.Type().IsRegular() && isMarkdown(file):
			f.files = append(f.files, file)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for notes in %s: %w", where, err)
	}
	return f, nil
}

func isMarkdown(file string) bool {
	return slices.Contains([]string{".md", ".markdown"}, strings.ToLower(filepath.Ext(file)))
}

// Len returns the number of files.
func (f *Notes) Len() int { return len(f.files) }

// All yields the notes as documents, in the order of their paths. A document is identified by Name
// and the file's path below the folder, wherever that is. Fields that the note lacks are nil. A
// file that cannot be read yields an error, and iteration continues.
func (f *Notes) All() iter.Seq2[Note, error] {
	return func(yield func(Note, error) bool) {
		for _, file := range f.files {
			note, err := f.read(file)
			if err != nil {
				err = fmt.Errorf("%s: %w", file, err)
			}
			if !yield(note, err) {
				return
			}
		}
	}
}

func (f *Notes) read(file string) (Note, error) {
	disk, err := os.Open(filepath.Join(f.path, filepath.FromSlash(file)))
	if err != nil {
		return Note{}, errors.Unwrap(err)
	}
	defer disk.Close()
	text, err := io.ReadAll(io.LimitReader(disk, maxFile+1))
	if err != nil {
		return Note{}, err
	}
	if len(text) > maxFile {
		return Note{}, fmt.Errorf("it is longer than %d bytes", maxFile)
	}
	note, err := parseNote(string(text))
	if note.Title == "" {
		note.Title = strings.TrimSuffix(path.Base(file), path.Ext(file))
	}
	id := IDOfPath(f.Name + "/" + file)
	note.ID = &id
	return note, err
}
