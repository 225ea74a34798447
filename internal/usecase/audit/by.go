package audit

import (
	"context"
	"net/url"
	"strings"
	"unicode/utf8"

	"levelboard/internal/domain/fault"
)

// MaxReason bounds a reason, in characters.
const MaxReason = 512

// By says for whom a change is made, and why.
type By struct {
	Actor     Actor
	Reason    string // empty if there is none
	RequestID string // the answer's X-Request-Id
}

type byKey struct{}

// With returns a context whose changes are recorded as made by b.
func With(ctx context.Context, b By) context.Context { return context.WithValue(ctx, byKey{}, &b) }

// WithReason returns a context whose changes have another reason. Without an author it changes nothing.
func WithReason(ctx context.Context, reason string) context.Context {
	b := Of(ctx)
	if b == nil {
		return ctx
	}
	by := *b
	by.Reason = reason
	return With(ctx, by)
}

// Of returns the author of the changes in ctx, or nil if there is none, as in the demo. Changes without an author are not recorded.
func Of(ctx context.Context) *By {
	b, _ := ctx.Value(byKey{}).(*By)
	return b
}

// EntryOf returns the entry of a change in ctx, or nil if it has no author.
func EntryOf(ctx context.Context, e Entry) *Entry {
	b := Of(ctx)
	if b == nil {
		return nil
	}
	e.By = *b
	return &e
}

// ParseReason decodes a reason that a client sent percent-encoded. Its error is an Invalid fault.
func ParseReason(sent string) (string, error) {
	reason, err := url.PathUnescape(sent)
	if err != nil || !ValidReason(reason) {
		return "", fault.New(fault.Invalid, "The header X-Audit-Log-Reason must be percent-encoded UTF-8, at most %d characters decoded and without NUL.", MaxReason)
	}
	return reason, nil
}

// ValidReason reports whether a decoded reason can be stored.
func ValidReason(reason string) bool {
	return utf8.ValidString(reason) && utf8.RuneCountInString(reason) <= MaxReason && !strings.Contains(reason, "\x00")
}
