package gateway

import (
	"net/http"
	"slices"
	"strings"
)

// choose returns the first of the functions of a name that the arguments fit. PostgREST refuses a
// call that fits several.
func choose(members []function, args arguments) (function, bool) {
	for _, member := range members {
		if member.takes(args) {
			return member, true
		}
	}
	return function{}, false
}

// takes reports whether the given names include all required parameters, and only parameters.
func (f function) takes(args arguments) bool {
	if args.text {
		return false
	}
	left := len(args.names)
	for _, p := range f.parameters {
		given := p.Name != "" && slices.Contains(args.names, p.Name)
		if given {
			left--
		} else if !p.optional {
			return false
		}
	}
	return left == 0
}

// notFound is PostgREST's PGRST202 for these arguments.
func notFound(to target, args arguments, members []function) fault {
	name := to.schema + "." + to.function
	called, searched := name, " with parameter"
	switch {
	case args.text:
		searched = " with a single unnamed text parameter"
	case len(args.names) == 0:
		called, searched = name+" without parameters", " without parameters"
	default:
		if len(args.names) > 1 {
			searched += "s"
		}
		list := strings.Join(args.names, ", ")
		called, searched = name+"("+list+")", searched+" "+list
	}
	if !args.text && args.query == nil {
		searched += " or with a single unnamed json/jsonb parameter"
	}
	missing := fault{status: http.StatusNotFound, code: "PGRST202",
		message: "Could not find the function " + called + " in the schema cache",
		details: "Searched for the function " + name + searched + ", but no matches were found in the schema cache."}
	if len(members) > 0 {
		var names []string
		for _, p := range members[0].parameters {
			names = append(names, p.Name)
		}
		missing.hint = "Perhaps you meant to call the function " + name + "(" + strings.Join(names, ", ") + ")"
	}
	return missing
}
