package export

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSheetMade(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"12-Mar": "a date", "Mar-12": "a date", "12. Mrz": "a date", "Mrz 12": "a date", "12-mars": "a date", "mars-12": "a date", "12 мар": "a date", "мар.12": "a date", "3月12日": "a date", "12-May-25": "a date",
		"Sep-05": "a date", "01.03.2012": "a date", "2012-03-01": "a date", "2012-03-01 00:00:00": "a date", "2012-03-01T00:00:00.000Z": "a date", "3/12/25": "a date", "12/3": "a date", "12.03": "a date", "12:30": "a date",
		"1E+05": "a number", "1,23457E+14": "a number", "44927": "a number", "44927.0": "a number", "44,927": "a number", "####": "an error", "#NAME?": "an error", "#REF!": "an error", "#N/A": "an error",
		"MAR-12": "", "SEP-5": "", "TX-400": "", "A2_B-7": "", "next-12": "", "Next.js-3": "", "tx-400": "", "maximo-4": "", "AB": "", "-6": "", "": "",
	} {
		if got := sheetMade(value, "", false); got != want {
			t.Errorf("key %q: %q, want %q", value, got, want)
		}
	}
	if got := sheetMade("mar-12", "mar", false); got != "" {
		t.Errorf("of a project mar: %q", got)
	}
	for value, want := range map[string]string{
		"50010": "", "123456789012345": "", "1234567890123456": "", "6f1c0b4e-5e0a-4f7e-9a59-3c0f3f3f1a2b": "", "PUMP-7": "",
		"1.23457E+14": "a number", "50010.0": "a number", "1234567890123450": "a number", "12345678901234500000": "a number", "12-Mar": "a date", "01/02/2025": "a date", "#VALUE!": "an error",
	} {
		if got := sheetMade(value, "", true); got != want {
			t.Errorf("id %q: %q, want %q", value, got, want)
		}
	}
}

// A row that a spreadsheet damaged is refused and named, whatever of it that is, and others are
// read.
func TestDamagedRows(t *testing.T) {
	t.Parallel()
	const why = " that a spreadsheet made of it: export again, and import the file as the tracker wrote it"
	for _, c := range []struct {
		file, key, reason string
	}{
		{"Issue key,Summary,Project key\n12-Apr,n,APR\nAPR-13,n,APR\n", "12-Apr", `Issue key "12-Apr" looks like a date`},
		{"Issue key,Summary,Project key\nApr-12,n,APR\nAPR-13,n,APR\n", "Apr-12", `Issue key "Apr-12" looks like a date`},
		{"Issue key,Summary,Issue id\nPUMP-1,n,1.2E+17\nPUMP-2,n,7\n", "PUMP-1", `Issue id "1.2E+17" looks like a number`},
		{"Issue key,Summary,Parent id\nPUMP-1,n,50010.0\nPUMP-2,n,50010\n", "PUMP-1", `Parent id "50010.0" looks like a number`},
		{"Issue key,Summary,Parent key\nPUMP-1,n,2-Nov\nPUMP-2,n,NOV-2\n", "PUMP-1", `Parent key "2-Nov" looks like a date`},
		{"Issue key,Summary,Outward issue link (Blocks)\nPUMP-1,n,Nov 02\nPUMP-2,n,PUMP-1\n", "PUMP-1", `Outward issue link (Blocks) "Nov 02" looks like a date`},
		{"ID,Team,Title,Blocked by\nENG-1,e,n,\"ENG-2,4-Okt\"\nENG-2,e,n,\n", "ENG-1", `Blocked by "4-Okt" looks like a date`},
		{"ID,Title,URL,State,Parent ID\n9,n,https://gitlab.com/a/b/-/issues/1,Open,1E+09\n7,n,https://gitlab.com/a/b/-/issues/2,Open,9\n", "", `Parent ID "1E+09" looks like a number`},
	} {
		good, bad, err := collect(t, openCSV(t, c.file).Tickets())
		if err != nil || len(good) != 1 || len(bad) != 1 || bad[0].Line != 2 || bad[0].Key != c.key && c.key != "" || !cmp.Equal(c.reason+why, bad[0].Reason) {
			t.Errorf("%q: %d good, %s, %v", c.file, len(good), strings.Join(strings.Fields(fmt.Sprint(bad)), " "), err)
		}
	}
}
