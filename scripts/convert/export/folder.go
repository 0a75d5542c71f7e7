package export

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// ConvertTo is Convert into a new or empty folder, which only its owner reads.
func ConvertTo(folder string, says io.Writer, options Options, paths ...string) (Manifest, error) {
	switch entries, err := os.ReadDir(folder); {
	case options.Restricted == Keep:
		return Manifest{}, errors.New("--out does not go with --restricted keep: what only some may see stays in no folder")
	case len(entries) > 0:
		return Manifest{}, fmt.Errorf("%s is not empty: name a new folder", folder)
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return Manifest{}, err
	}
	return convert(func(name string) (io.WriteCloser, error) {
		if err := errors.Join(os.MkdirAll(folder, 0o700), os.Chmod(folder, 0o700)); err != nil {
			return nil, err
		}
		return os.OpenFile(filepath.Join(folder, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	}, says, options, paths)
}

// write writes the manifest and the rows, each to what open returns for its file.
func (c *conversion) write(open func(name string) (io.WriteCloser, error)) error {
	rows, err := c.rows.rewind()
	if err != nil {
		return err
	}
	write := func(name string, lines func(io.Writer) error) {
		if err != nil {
			return
		}
		var out io.WriteCloser
		if out, err = open(name); err == nil {
			err = errors.Join(lines(out), out.Close())
		}
	}
	write(manifestFile, func(out io.Writer) error { return writeLines(out, c.Manifest) })
	if c.Format == "markdown" {
		write(documentLines, func(out io.Writer) error { return copyAll(out, rows) })
		return err
	}
	write(projectLines, func(out io.Writer) error { return writeLines(out, c.projects...) })
	write(ticketLines, func(out io.Writer) error { return copyAll(out, rows) })
	return err
}

func copyAll(out io.Writer, in io.Reader) error {
	_, err := io.Copy(out, in)
	return err
}
