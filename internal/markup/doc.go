// Package markup turns what issue trackers format texts with into plain readable text: Jira's wiki
// markup ([Text]) and Atlassian's document format ([Document]).
//
// It owns what of a text is markup. It keeps every word that a reader of the tracker sees, and
// leaves alone what only resembles markup: source code, identifiers, shell. Both functions take
// time linear in their input.
package markup
