package importer

import (
	"fmt"
	"slices"
)

// Reason says why a row was skipped, in words. There is no reason besides these constants.
type Reason string

// The reasons.
const (
	ReasonNoID          Reason = "it has no user id"
	ReasonID            Reason = "the user id is not 17 to 19 digits"
	ReasonSpreadsheetID Reason = "a spreadsheet has rounded the user id"
	ReasonNumericID     Reason = "the user id is a number, which may have been rounded; it must be text"
	ReasonNoXP          Reason = "it has no XP"
	ReasonNegative      Reason = "the XP is negative"
	ReasonExponent      Reason = "the XP is written with an exponent"
	ReasonNumber        Reason = "the XP is not a number"
	ReasonAmbiguous     Reason = "the XP has a point that may separate thousands or a fraction"
	ReasonLevel         Reason = "the level is not a whole number from 0 to 10000"
	ReasonNoLevel       Reason = "it has no level, so its XP may be that of a week"
	ReasonMessages      Reason = "the message count is not a whole number from 0 to 2147483647"
	ReasonPresent       Reason = "the value of present is not true or false"
	ReasonShape         Reason = "it is not written as this source writes a member"
	ReasonDuplicateName Reason = "it names a property twice"
	ReasonUTF8          Reason = "it is not UTF-8"
	ReasonQuotes        Reason = "its quotes do not match"
	ReasonFields        Reason = "it has more or fewer fields than the first line"
	ReasonText          Reason = "it is not a user id, a dash and XP"
)

// maxSkips is how many skipped rows a Report lists. It counts all.
const maxSkips = 1000

// Report has the findings in all files.
type Report struct {
	Files      []FileReport
	Rows       int            // number of rows read, duplicates included
	Duplicates int            // number of rows that Gather dropped in favor of another one of the same member
	Skipped    []Skip         // the first 1,000, in order
	Reasons    map[Reason]int // counts all skipped rows
	Warnings   []string       // sentences without repeats
	Proposal   Proposal       // settings in the files
}

// FileReport has the findings in one file.
type FileReport struct {
	Name string
	From From   // never Auto
	What string // a name for people, such as "a page of MEE6's leaderboard"
	Rows int
}

// Skip is a skipped row. The JSON tags are for the command's --json.
type Skip struct {
	File   int    `json:"-"`    // index in Report.Files
	Line   int    `json:"line"` // the line on which it begins, from 1
	Row    int    `json:"-"`    // its position among the file's members, from 1, since many files have only one line
	Reason Reason `json:"reason"`
}

// SkippedRows returns the number of skipped rows.
func (r *Report) SkippedRows() (n int) {
	for _, count := range r.Reasons {
		n += count
	}
	return n
}

func (r *Report) skip(s Skip) {
	r.Reasons[s.Reason]++
	if len(r.Skipped) < maxSkips {
		r.Skipped = append(r.Skipped, s)
	}
}

func (r *Report) warn(format string, args ...any) {
	if w := fmt.Sprintf(format, args...); !slices.Contains(r.Warnings, w) {
		r.Warnings = append(r.Warnings, w)
	}
}
