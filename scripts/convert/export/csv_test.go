package export

import (
	"strings"
	"testing"
)

// The separator and the line of the header are found, whatever program wrote the file.
func TestCSVHeaders(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"bars":                           "Issue key|Summary|Labels|Labels\nS-1|a, b; c|x|y\n",
		"carets":                         "Issue key^Summary^Labels^Labels\nS-1^a, b; c^x^y\n",
		"a sep= line":                    "sep=;\r\nIssue key;Summary;Labels;Labels\r\nS-1;\"a, b; c\";x;y\r\n",
		"a sep= line with a separator":   "sep=~\nIssue key~Summary~Labels~Labels\nS-1~a, b; c~x~y\n",
		"titles before the header":       "\"Issues, as of\n14 March\"\nExported by Ann, with filter \"mine\"\n\nProject;PUMP;;\nIssue key;Summary;Labels;Labels\nS-1;\"a, b; c\";x;y\n",
		"separators in quoted names":     "\"Notes; internal, old\",Issue key,Summary,Labels,Labels\n,S-1,\"a, b; c\",x,y\n",
		"blank rows before, tabs within": ",,,\n;;\n\t\t\t\nIssue key\tSummary\tLabels\tLabels\nS-1\ta, b; c\tx\ty\n",
	} {
		got, bad, err := collect(t, openCSV(t, file).Tickets())
		if err != nil || len(bad) > 0 || len(got) != 1 || got[0].Name != "a, b; c" || strings.Join(got[0].Labels, " ") != "x y" || got[0].Line != strings.Count(file[:strings.Index(file, "S-1")], "\n")+1 {
			t.Errorf("%s: %+v, %v, %v", name, got, bad, err)
		}
	}
	for name, header := range map[string]string{
		"German":  "Zusammenfassung;Vorgangsschlüssel;Vorgangs-ID;Status",
		"French":  "Résumé,Clé de ticket,Type de ticket",
		"partial": "Issue key,Zusammenfassung,Status",
	} {
		if _, err := Open(writeOne(t, "x.csv", "Bericht\n"+header+"\nS-1,n,m\n")); err == nil || !strings.Contains(err.Error(), "in another language, set the tracker's to English and export again") || !strings.Contains(err.Error(), header[:12]) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
