// Package ticketfile reads projects and tickets from files, a row at a time.
//
// It owns the formats that an import accepts, and what makes a row valid:
//
//   - a folder with projects.jsonl and tickets.jsonl, each plain or gzipped (.jsonl.gz), one JSON object a line:
//
//     {"project_id":"SHOP","name":"Web shop","description":"…"}
//     {"ticket_id":"SHOP-7","project_id":"SHOP","name":"Cart is empty","description":"…","status":"Done",
//     "created_at":"2025-03-14T09:12:00Z","notes":[{"status":"Done","note":"…","created_at":"…"}]}
//
//     The ids are external keys; a whole number counts as its digits. Ids and name are required; docs/import.md
//     lists the other fields. Unknown ones are ignored.
//
//   - a CSV export from Jira (.csv or .csv.gz), with commas, semicolons or tabs, the columns in any order. Issue key and
//     Summary are required. Its wiki markup and Atlassian documents become plain text.
//
//   - a CSV export from Linear, recognised by its columns ID, Team and Title.
//
//   - a JSON file of GitHub issues (.json, .jsonl or .gz of them), as gh issue list and the API write them: one or several
//     them, or an object a line. Pull requests are left out.
//
// A field that a row lacks is nil in its Ticket and leaves the stored value alone; an empty one
// clears it.
//
// A bad row is reported with its file and line, and reading continues after it. A file that cannot
// be read to its end stops the import. Memory is bounded by [MaxRow] (and, for the projects of a
// CSV export, by their keys).
//
// The package does not know where rows go: no database, no network, no terminal.
package ticketfile
