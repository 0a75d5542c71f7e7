package load

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
)

// pathSpace is the namespace of the ids of documents.
var pathSpace = uuid.MustParse("0fd2fd5c-5c1f-4d7e-9f3b-7c1f8a2f6f5e")

// IDOfPath returns the id of a document, a version 5 UUID: the same path in the same origin is the
// same document.
func IDOfPath(origin, path string) string {
	return uuid.NewSHA1(uuid.NewSHA1(pathSpace, []byte(origin)), []byte(path)).String()
}

// beginDocuments gives documents their ids. Where the origin is only the name of a folder, it fails
// if that is likely another one: without a common path, nothing would be overwritten, and both be
// in the origin.
func (l *loader) beginDocuments(ctx context.Context, rows []Row) error {
	origin := l.sum.Given.Origin
	if origin == "" {
		return fmt.Errorf("%w: documents need a manifest with their origin, as scripts/convert writes it", ErrRows)
	}
	for _, row := range rows {
		row.members["id"], _ = json.Marshal(IDOfPath(origin, row.key())) // a text
		row.members["origin"], _ = json.Marshal(origin)
		delete(row.members, "path")
	}
	if l.sum.Written["documents"] > 0 {
		return nil
	}
	before, err := l.compare(ctx, 0)
	if both := before.Stored - before.Documents; err == nil && l.sum.Given.OriginIsFolder && (both > 0 || l.options.Prune) && 2*both < min(before.Stored, len(l.sum.Given.Paths)) {
		return fmt.Errorf("%w: the origin %q has %d documents, and only %d of them are files of this folder, which may be another one of that name: "+
			"--origin NAME gives it an origin of its own, --origin %[2]s says that it is the same", ErrRows, origin, before.Stored, both)
	}
	l.report.Began(origin)
	return err
}
