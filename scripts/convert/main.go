// Command convert writes exports of trackers, hand-written JSON Lines and folders of Markdown as
// the JSON Lines that tasklens import reads, to standard output or to a folder. It knows no
// database, no model and no settings. See docs/convert.md.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"

	"tasklens/scripts/convert/export"
)

func main() {
	manifest, err := run(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintf(os.Stderr, "convert: %v\n", err)
		os.Exit(2)
	case !manifest.Clean():
		if manifest.Incomplete != "" {
			fmt.Fprintf(os.Stderr, "convert: the files are incomplete: %s\n", manifest.Incomplete)
		}
		if manifest.LeftOut+manifest.Fields > 0 {
			fmt.Fprintf(os.Stderr, "convert: left out, as named above: %d rows or files, %d fields\n", manifest.LeftOut, manifest.Fields)
		}
		os.Exit(1)
	}
}

func run(args []string) (manifest export.Manifest, err error) {
	var options export.Options
	flags := flag.NewFlagSet("convert", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: convert [OPTION…] PATH…")
		flags.PrintDefaults()
	}
	flags.StringVar(&options.Origin, "origin", "", "`name` of the export that the files are a copy of, if they do not say it")
	flags.StringVar(&options.Prefix, "prefix", "", "`text` before all keys of the files")
	flags.StringVar(&options.Text, "text", export.DefaultText, "`columns` to keep at the end of the description")
	flags.StringVar(&options.Labels, "labels", "", "`columns` to keep as labels")
	flags.StringVar(&options.Language, "language", "", "`language` of the projects, as Postgres names it (german), where the files do not say it")
	flags.StringVar(&options.Restricted, "restricted", "", "`keep` or omit what only some may see in the tracker, or by its front matter")
	folder := flags.String("out", "", "empty or new `folder` for the lines, instead of standard output")
	if err := flags.Parse(args); err != nil {
		return manifest, err
	}
	switch {
	case flags.NArg() == 0:
		return manifest, errors.New("name what to convert")
	case *folder != "":
		return export.ConvertTo(*folder, os.Stderr, options, flags.Args()...)
	}
	out := bufio.NewWriter(os.Stdout)
	manifest, err = export.Convert(out, os.Stderr, options, flags.Args()...)
	return manifest, errors.Join(err, out.Flush())
}
