// Package ticketfile reads projects and tickets from files, a row at a time: JSON Lines, CSV
// exports of Jira and Linear, and issues of Jira and GitHub in JSON, as docs/import.md describes.
// It owns these formats and what makes a row valid. A ticket is read into the form in which
// upsert_tickets takes it.
//
// A bad row is reported with its file and line, and reading continues after it. A file that cannot
// be read to its end stops the import. Memory is bounded by [MaxRow] (and by the
// keys of an export's projects and the names of its people).
//
// The package does not know where rows go: no database, no network, no terminal.
package ticketfile
