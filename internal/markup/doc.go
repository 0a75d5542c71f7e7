// Package markup converts the markup of issue trackers to plain text: Jira's wiki markup ([Text])
// and Atlassian's document format ([Document]).
//
// It keeps every word that a user of the tracker sees, and leaves text that only resembles markup
// unchanged: source code, identifiers, shell. Both functions take linear time.
package markup
