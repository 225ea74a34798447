package fault_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"levelboard/internal/domain/fault"
)

var errCause = errors.New("dial tcp: password=hunter2")

func TestFromFindsTheFaultInAChain(t *testing.T) {
	f := fault.New(fault.Conflict, "%d of %s", 2, "them")
	if got := fault.From(fmt.Errorf("outer: %w", fmt.Errorf("inner: %w", f))); got != f || got.Message != "2 of them" {
		t.Errorf("From of a chain returns %+v, want %+v", got, f)
	}
	if got := fault.From(nil); got != nil {
		t.Errorf("From of nil returns %+v, want nil", got)
	}
	if fault.Is(nil, fault.Internal) || !fault.Is(f, fault.Conflict) || fault.Is(f, fault.Internal) {
		t.Error("Is does not compare codes")
	}
}

func TestAnErrorWithoutACodeIsInternalAndKeepsItsCause(t *testing.T) {
	for _, err := range []error{errCause, fmt.Errorf("read: %w", errCause), &fault.Error{Cause: errCause}} {
		f := fault.From(err)
		if f.Code != fault.Internal || !errors.Is(f, errCause) {
			t.Errorf("From of %v returns %+v, want Internal with the cause", err, f)
		}
	}
}

func TestTheMessageHidesTheCause(t *testing.T) {
	for _, f := range []*fault.Error{fault.Down("read a member", errCause), fault.Wrap(errCause, fault.NotFound, "no such guild"), fault.From(errCause)} {
		if strings.Contains(f.Message, "hunter2") || f.Message == "" {
			t.Errorf("the message is %q, want one without the cause", f.Message)
		}
		if !strings.Contains(f.Error(), f.Message) || !strings.Contains(f.Error(), errCause.Error()) || !errors.Is(f, errCause) {
			t.Errorf("the text for the log is %q, want the message and the cause", f.Error())
		}
	}
	if f := fault.New(fault.Invalid, "page must be at least 1"); f.Error() != f.Message || f.Unwrap() != nil {
		t.Errorf("without a cause the text is %q and Unwrap %v", f.Error(), f.Unwrap())
	}
}

func TestDownIsUnavailableWithRetryAfter(t *testing.T) {
	f := fault.Down("read a member", errCause)
	if f.Code != fault.Unavailable || f.RetryAfter <= 0 || !strings.Contains(f.Error(), "read a member") {
		t.Errorf("Down returns %+v, want Unavailable with RetryAfter and the operation", f)
	}
}

func TestAFaultInABodyNamesItsPath(t *testing.T) {
	for path, want := range map[string]string{"": "The body must have at most 2 items", "roles[0].id": "roles[0].id must have at most 2 items"} {
		f := fault.At(path, "must have at most %d items", 2).Because(errCause)
		if f.Code != fault.Invalid || f.Path != path || f.Message != want || !errors.Is(f, errCause) {
			t.Errorf("the fault at %q is %+v, want the message %q", path, f, want)
		}
		if rule := f.Rule(); !strings.HasSuffix(rule, "must have at most 2 items") || path != "" && rule != "must have at most 2 items" {
			t.Errorf("the rule of the fault at %q is %q, want the message without the path", path, rule)
		}
	}
	if f := (&fault.Error{Path: "curve", Message: "the curve must rise"}); f.Rule() != f.Message {
		t.Errorf("the rule of a message without its path is %q, want the message", f.Rule())
	}
}
