package gateway

import (
	"net/http"
	"slices"
	"strings"
)

// choose returns the one member that the arguments fit. ok is false if none does; several are a
// fault, because the call is ambiguous.
func (f family) choose(args arguments) (chosen function, ok bool, err error) {
	var named, unnamed []function
	for _, member := range f.members {
		switch {
		case member.takes(args):
			named = append(named, member)
		case member.takesWhole(args):
			unnamed = append(unnamed, member)
		}
	}
	fitting := named
	if len(fitting) == 0 {
		fitting = unnamed
	}
	switch len(fitting) {
	case 0:
		return function{}, false, nil
	case 1:
		return fitting[0], true, nil
	}
	shown := make([]string, len(fitting))
	for i, member := range fitting {
		shown[i] = member.signature(func(p parameter) string { return p.Name + " => " + p.Shown })
	}
	return function{}, false, fault{status: http.StatusMultipleChoices, code: "PGRST203",
		message: "Could not choose the best candidate function between: " + strings.Join(shown, ", "),
		hint:    "Try renaming the parameters or the function itself in the database so function overloading can be resolved"}
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

// takesWhole reports whether the whole body is the function's single unnamed argument.
func (f function) takesWhole(args arguments) bool {
	if len(f.parameters) != 1 || f.parameters[0].Name != "" || args.query != nil {
		return false
	}
	switch f.parameters[0].Type {
	case "pg_catalog.text":
		return args.text
	case "pg_catalog.json", "pg_catalog.jsonb":
		return !args.text
	}
	return false
}

func (f function) signature(show func(parameter) string) string {
	shown := make([]string, len(f.parameters))
	for i, p := range f.parameters {
		shown[i] = show(p)
	}
	return f.schema + "." + f.name + "(" + strings.Join(shown, ", ") + ")"
}

// notFound is PostgREST's PGRST202 for these arguments.
func (f family) notFound(to target, args arguments) fault {
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
	if len(f.members) > 0 {
		missing.hint = "Perhaps you meant to call the function " + f.members[0].signature(func(p parameter) string { return p.Name })
	}
	return missing
}
