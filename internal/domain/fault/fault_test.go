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
		t.Errorf("from a chain: %+v", got)
	}
	if got := fault.From(nil); got != nil {
		t.Errorf("from nil: %+v", got)
	}
	if fault.Is(nil, fault.Internal) || !fault.Is(f, fault.Conflict) || fault.Is(f, fault.Internal) {
		t.Error("Is does not compare codes")
	}
}

func TestAnErrorWithoutACodeIsInternalAndKeepsItsCause(t *testing.T) {
	for _, err := range []error{errCause, fmt.Errorf("read: %w", errCause), &fault.Error{Cause: errCause}} {
		f := fault.From(err)
		if f.Code != fault.Internal || !errors.Is(f, errCause) {
			t.Errorf("%v: %+v", err, f)
		}
	}
}

func TestTheCauseIsForTheLogOnly(t *testing.T) {
	for _, f := range []*fault.Error{fault.Down("read a member", errCause), fault.Wrap(errCause, fault.NotFound, "no such guild"), fault.From(errCause)} {
		if strings.Contains(f.Message, "hunter2") || f.Message == "" {
			t.Errorf("message %q", f.Message)
		}
		if !strings.Contains(f.Error(), f.Message) || !strings.Contains(f.Error(), errCause.Error()) || !errors.Is(f, errCause) {
			t.Errorf("text for the log %q", f.Error())
		}
	}
	if f := fault.New(fault.Invalid, "page must be at least 1"); f.Error() != f.Message || f.Unwrap() != nil {
		t.Errorf("without a cause: %q, %v", f.Error(), f.Unwrap())
	}
}

func TestDownSaysWhenToTryAgain(t *testing.T) {
	f := fault.Down("read a member", errCause)
	if f.Code != fault.Unavailable || f.RetryAfter <= 0 || !strings.Contains(f.Error(), "read a member") {
		t.Errorf("%+v", f)
	}
}

func TestAFaultOfAPartOfABodyNamesThePart(t *testing.T) {
	for path, want := range map[string]string{"": "The body must have at most 2 items", "roles[0].id": "roles[0].id must have at most 2 items"} {
		f := fault.At(path, "must have at most %d items", 2).Because(errCause)
		if f.Code != fault.Invalid || f.Path != path || f.Message != want || !errors.Is(f, errCause) {
			t.Errorf("at %q: %+v", path, f)
		}
		if rule := f.Rule(); !strings.HasSuffix(rule, "must have at most 2 items") || path != "" && rule != "must have at most 2 items" {
			t.Errorf("at %q: the rule is %q", path, rule)
		}
	}
	if f := (&fault.Error{Path: "curve", Message: "the curve must rise"}); f.Rule() != f.Message {
		t.Errorf("a rule that does not begin with the path: %q", f.Rule())
	}
}
