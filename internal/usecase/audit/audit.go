// Package audit is the log of who changed what in a guild. The step that changes members also writes its record into the
// guild's journal, and the snapshot writer moves the journal to the archive. A change in the archive writes its record in
// its own transaction. This package defines the records and their author, and reads them. It does not check who may read.
package audit

import (
	"cmp"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/id"
)

// Kind says what kind of author made a change.
type Kind string

// The kinds. The operator holds the admin token.
const (
	Key      Kind = "key"
	User     Kind = "user"
	Operator Kind = "operator"
)

// Actor is the author of a change.
type Actor struct {
	Kind Kind
	ID   string // of the key or the user, or "operator" or "service"
	Name string
}

var (
	// TheOperator is the holder of the admin token.
	TheOperator = Actor{Kind: Operator, ID: "operator", Name: "Operator"}
	// TheService is Levelboard itself. It takes grants away from users who lost the right to give them.
	TheService = Actor{Kind: Operator, ID: "service", Name: "Levelboard"}
)

// Action says what a change did.
type Action string

// The actions.
const (
	Created     Action = "created"
	Set         Action = "set"
	Incremented Action = "incremented"
	Decremented Action = "decremented"
	Deleted     Action = "deleted"
	Bulk        Action = "bulk"
	Presence    Action = "presence"
	Hidden      Action = "hidden"
	Settings    Action = "settings"
	Directory   Action = "directory"
	Granted     Action = "granted"
	Ungranted   Action = "ungranted"
	Imported    Action = "imported"
	Checkpoint  Action = "checkpoint"
	Restored    Action = "restored"
	Reset       Action = "reset"
)

// Entry is the part of a record that is known before its change is made.
type Entry struct {
	By     By
	Action Action
	UserID id.User // the member, or the owner of the key; empty if there is neither
	Count  *int64  // of members; nil if the action has no count
}

// Record is a record of the log.
type Record struct {
	Entry
	ID            ID
	Before, After jsontext.Value // XP, or the changed properties; nil if there is none
}

// At returns when the change was made, in milliseconds.
func (r *Record) At() time.Time { return time.UnixMilli(r.ID.Millis).UTC() }

// ArchiveNumber is the Number of all records that the archive itself makes. No journal
// counts that far within a millisecond, so no record has the same id as another.
const ArchiveNumber = 1 << 32

// ID is the position of a record in its guild's log, by time.
type ID struct {
	Millis int64 // since 1970
	Number int64 // within the millisecond
}

// errID is the error of ParseID, a sentence for the client.
var errID = errors.New("must be the id of a record as it was answered, such as 1700000000000-0")

// ParseID reads the result of String, and rejects any other text.
func ParseID(text string) (i ID, err error) {
	millis, number, _ := strings.Cut(text, "-")
	if i.Millis, err = strconv.ParseInt(millis, 10, 64); err == nil {
		i.Number, err = strconv.ParseInt(number, 10, 64)
	}
	if err != nil || i.Millis < 0 || i.Number < 0 || i.String() != text {
		return ID{}, errID
	}
	return i, nil
}

func (i ID) String() string {
	return strconv.FormatInt(i.Millis, 10) + "-" + strconv.FormatInt(i.Number, 10)
}

// Compare returns a negative number if i is earlier than other, and a positive one if it is later.
func (i ID) Compare(other ID) int {
	return cmp.Or(cmp.Compare(i.Millis, other.Millis), cmp.Compare(i.Number, other.Number))
}
