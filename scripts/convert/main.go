// Command convert writes exports of trackers, hand-written JSON Lines and folders of Markdown as
// the JSON Lines that tasklens import reads, to standard output or to a folder. It knows no
// database, no model and no settings. See docs/convert.md.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"tasklens/scripts/convert/export"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run returns the exit status: 1 if something is missing in what it wrote, 2 if it wrote nothing.
func run(args []string, stdout, stderr io.Writer) int {
	manifest, err := convert(args, stdout, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "convert: %v\n", err)
		return 2
	case manifest.Clean():
		return 0
	}
	return 1
}

func convert(args []string, stdout, stderr io.Writer) (manifest export.Manifest, err error) {
	var options export.Options
	flags := flag.NewFlagSet("convert", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&options.Origin, "origin", "", "`name` of the export that the files are a copy of, if they do not say it")
	flags.StringVar(&options.Prefix, "prefix", "", "`text` before all keys of the files")
	flags.StringVar(&options.Text, "text", export.DefaultText, "`columns` to keep at the end of the description")
	flags.StringVar(&options.Labels, "labels", "", "`columns` to keep as labels")
	flags.StringVar(&options.Language, "language", "", "`language` of the projects, as Postgres names it (german), where the files do not say it")
	flags.StringVar(&options.Restricted, "restricted", "", "`keep` or omit what only some may see in the tracker, or by its front matter")
	folder := flags.String("out", "", "empty or new `folder` for the lines, instead of standard output")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintln(stderr, "usage: convert [OPTION…] PATH…")
		flags.SetOutput(stderr)
		flags.PrintDefaults()
		return manifest, err
	case err != nil:
		return manifest, fmt.Errorf("wrong arguments: %w (-h lists the options)", err)
	case flags.NArg() == 0:
		return manifest, errors.New("wrong arguments: name what to convert")
	case *folder != "":
		return export.ConvertTo(*folder, stderr, options, flags.Args()...)
	}
	out := bufio.NewWriter(stdout)
	manifest, err = export.Convert(out, stderr, options, flags.Args()...)
	return manifest, errors.Join(err, out.Flush())
}
