package filter

import "slices"

// Candidate is a name in filters that no stored value has.
type Candidate struct {
	_ struct{} `schema:"Candidate"`

	Member string   `json:"member" example:"assignee"`
	Value  string   `json:"value" example:"gary"`
	Names  []string `json:"names" max:"6" example:"[\"Gary Mathews\", \"Gary Moss\"]" doc:"The stored values that resemble it, the nearest first."`
}

// Correct replaces each name that can only mean one stored value.
func (m Members) Correct(names []Candidate) Members {
	correct := func(member string, values Values) Values {
		values = slices.Clone(values)
		for i, value := range values {
			for _, name := range names {
				if name.Member == member && value == any(name.Value) && len(name.Names) == 1 {
					values[i] = name.Names[0]
				}
			}
		}
		return values
	}
	if m.Not != nil {
		not := m.Not.Correct(names)
		m.Not = &not
	}
	for _, member := range m.Typed() {
		switch value := member.Value.(type) {
		case *Values:
			*value = correct(member.Name, *value)
		case *Labels:
			value.Any, value.All = correct(member.Name, value.Any), correct(member.Name, value.All)
		}
	}
	return m
}
