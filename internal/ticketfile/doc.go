// Package ticketfile reads projects and tickets from files, a row at a time.
//
// It owns the forms that an import accepts, and what makes a row of them good:
//
//   - a folder with projects.jsonl and tickets.jsonl, each plain or gzipped (.jsonl.gz), one JSON object a line:
//
//     {"project_id":"SHOP","name":"Web shop","description":"…"}
//     {"ticket_id":"SHOP-7","project_id":"SHOP","name":"Cart is empty","description":"…","status":"Done",
//     "created_at":"2025-03-14T09:12:00Z","notes":[{"status":"Done","note":"…","created_at":"…"}]}
//
//     The ids are the keys that people use; a whole number is taken as its digits. Ids and name are required; docs/import.md
//     lists the other fields. Unknown ones are ignored.
//
//   - a CSV export from Jira (.csv or .csv.gz), with commas, semicolons or tabs, the columns in any order. Issue key and
//     Summary are required. Its wiki markup and Atlassian documents become plain text.
//
//   - a CSV export from Linear, recognised by its columns ID, Team and Title.
//
//   - a JSON file of GitHub issues (.json, .jsonl or .gz of them), as gh issue list and the API write them: arrays, several of
//     them, or an object a line. Pull requests are left out.
//
// What a row says nothing about stays nil in its Ticket, and changes nothing; an empty value says
// that there is none.
//
// A bad row is reported with its file and line, and reading goes on behind it; a file that cannot
// be read to its end stops it. Memory stays bounded by [MaxRow], whatever the file holds (and, for
// the projects of a CSV export, by their keys).
//
// The package must not know where rows go: no database, no network, no terminal.
package ticketfile
