package export

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// What a key as trackers write it is, and what a spreadsheet makes of keys and ids in a CSV file
// that somebody opened and saved, in any language: 12-Mar, Mrz 12, 3/12, 44927, 1.23457E+14, ####.
var (
	intact      = regexp.MustCompile(`^\p{Lu}[\p{Lu}\pN_]*-\d+$`)
	sheetNumber = regexp.MustCompile(`^\+?\d+(?:[.,\x{A0} ]\d+)*(?:[eE][+-]?\d+)?$`)
	sheetError  = regexp.MustCompile(`^#(?:#+|[A-Z/0-9]+[!?]?)$`)
	sheetDate   = regexp.MustCompile(`^\d{1,4}(?:[-./ ]+\pL+\.?(?:[-./ ]+\d{2,4})?|(?:[-./: ]+\d{1,4}){1,6}(?: ?[AaPp]\.?[Mm]\.?)?|\s?[年月년월].*)$`)
	sheetMonth  = regexp.MustCompile(`^(\pL{3,9})(\.?[-./ ’']+)\d{1,4}$`)
	// months begins their names in the languages of Europe and some more.
	months = regexp.MustCompile(`(?i)^(?:[ij]an|ene|gen|f[eé][bv]|mar|mär|márc|mrz|mrt|maa|a[pvb]r|ápr|ma[yigj]|máj|mei|j[uú]n|jui|iu[nl]|giu|j[uú]l|lug|a[ugo]{2}|aoû|avg|sep|set|szep|o[ckt]t|out|no[vi]|d[eéi][czs]|` +
		`sty|lut|kwi|cze|lip|sie|wrz|paź|lis|gru|led|úno|bře|dub|kvě|čv[nc]|srp|zář|říj|pro|oca|şub|nis|haz|tem|ağu|eyl|eki|kas|ara|tammi|helmi|huhti|touko|kesä|heinä|elo|syys|loka|joulu|` +
		`янв|фев|мар|апр|ма[йя]|ию[нл]|авг|сен|окт|ноя|дек|січ|лют|бер|кві|тра|чер|лип|сер|вер|жов|лис|гру|ιαν|φεβ|μ[αά]ρ|απρ|μ[αά][ιϊΐ]|ιο[υύ]|α[υύ]γ|σεπ|οκτ|νο[εέ]|δεκ)\pL*$`)
)

// exactDigits is how many digits of a number a spreadsheet keeps. The others become zeros.
const exactDigits = 15

// sheetMade says what a spreadsheet has made of a key of this project, or of an id, "" if nothing
// shows it. Projects have capitals in their keys, or the file writes them otherwise.
func sheetMade(value, project string, isID bool) string {
	value = strings.TrimSpace(plainSpaces.Replace(value))
	digits := strings.Trim(value, "0123456789") == ""
	month := sheetMonth.FindStringSubmatch(value)
	if value == "" || intact.MatchString(value) {
		return ""
	}
	switch _, err := ParseDate(value); {
	case digits && isID && (len(value) <= exactDigits || strings.Trim(value[exactDigits:], "0") != ""):
		return ""
	case sheetError.MatchString(value):
		return "an error"
	case !digits && (!errors.Is(err, errNoDate) || sheetDate.MatchString(value)):
		return "a date"
	case sheetNumber.MatchString(value):
		return "a number"
	case month != nil && month[1] != project && months.MatchString(month[1]) && (month[2] != "-" || month[1] != strings.ToUpper(month[1])):
		return "a date"
	}
	return ""
}

// damage returns the first key or id of a row of CSV that a spreadsheet has changed: nobody knows
// what it was.
func (r *row) damage() error {
	if r.object.Exists() {
		return nil
	}
	look := func(column string, isID bool) error {
		for _, cell := range r.cells[fold(column)] {
			values := []string{cell}
			if r.tracker == &linear {
				values = strings.Split(cell, ",")
			}
			for _, value := range values {
				value = strings.TrimSpace(value)
				if made := sheetMade(value, r.value("project_key"), isID); made != "" {
					return fmt.Errorf("%s %s looks like %s that a spreadsheet made of it: export again, and import the file as the tracker wrote it", column, quote(value), made)
				}
			}
		}
		return nil
	}
	for _, member := range []string{"key", "source_id", "parent", "child_of", "relates_to", "blocked_by", "duplicates"} {
		for _, column := range r.columns[member] {
			if err := look(column, member != "key" || r.tracker == &gitlab); err != nil {
				return err
			}
		}
	}
	for _, other := range r.others {
		if linkColumn.MatchString(other[0]) {
			if err := look(other[0], true); err != nil {
				return err
			}
		}
	}
	return nil
}
