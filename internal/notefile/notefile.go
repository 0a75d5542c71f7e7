// Package notefile reads notes from a folder of Markdown files. It owns where a note's title, date
// and keywords are found and which files are notes. It does not know where notes go.
package notefile

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
	"time"
)

// maxFile bounds a file. A longer one is not a note.
const maxFile = 4 << 20

// Note is one file.
type Note struct {
	// Path is the folder's Name and the file's path below it, with slashes. It does not depend on
	// where the folder is.
	Path          string
	Title         string // from the front matter, else the first heading, else the file name; at most 500 characters
	Content       string // without the front matter
	Keywords      []string
	TemporalClass string    // "" where the note does not say
	CreatedAt     time.Time // zero if the note has none
}

// Folder is a folder of notes.
type Folder struct {
	Name  string // the first part of its notes' paths; the folder's own, unless the caller sets it
	path  string
	files []string // relative, with slashes
}

// Is reports whether an import of this path means notes: a Markdown file, or a folder with some and
// without tickets.
func Is(where string) bool {
	for _, tickets := range []string{"projects.jsonl", "projects.jsonl.gz", "tickets.jsonl", "tickets.jsonl.gz"} {
		if _, err := os.Stat(filepath.Join(where, tickets)); err == nil {
			return false
		}
	}
	folder, err := Open(where)
	return err == nil && len(folder.files) > 0
}

// Open lists the files in a folder and below, or a single file. It skips hidden folders and
// symbolic links.
func Open(where string) (*Folder, error) {
	absolute, err := filepath.Abs(where)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(absolute)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		f := &Folder{path: filepath.Dir(absolute)}
		f.Name = filepath.Base(f.path)
		if info.Mode().IsRegular() && isMarkdown(absolute) {
			f.files = []string{filepath.Base(absolute)}
		}
		return f, nil
	}
	f := &Folder{path: absolute, Name: filepath.Base(absolute)}
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
func (f *Folder) Len() int { return len(f.files) }

// Notes yields the notes in the order of their paths. A file that cannot be read yields an error,
// and iteration continues.
func (f *Folder) Notes() iter.Seq2[Note, error] {
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

func (f *Folder) read(file string) (Note, error) {
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
	note, err := parse(string(text))
	if note.Title == "" {
		note.Title = strings.TrimSuffix(path.Base(file), path.Ext(file))
	}
	note.Path = f.Name + "/" + file
	return note, err
}
