package redisconn_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"levelboard/internal/store/redisconn"
	"levelboard/internal/testing/testenv"
)

func TestABatchHasABound(t *testing.T) {
	client := connect(t, testenv.Redis(t).URL())
	s := newBoard(client)
	loadGuild(t, s, guild1, nth(1))
	seen := watch(client)
	b := newBatch(t, s)
	for range 2*redisconn.BatchCalls + 1 {
		b.change(guild1, nth(1), plus(1))
	}
	b.send()
	if seen.pipelines != 3 {
		t.Errorf("%d round trips were made, want 3", seen.pipelines)
	}
	if m, err := s.Member(t.Context(), guild1, nth(1)); err != nil || m.XP != 100+2*redisconn.BatchCalls+1 {
		t.Errorf("the member has %d XP (%v), want %d", m.XP, err, 100+2*redisconn.BatchCalls+1)
	}
}

func TestOneCallTooManyIsRefused(t *testing.T) {
	client := connect(t, testenv.Redis(t).URL())
	s := newBoard(client)
	loadGuild(t, s, guild1, nth(1))
	release := s.Hold()
	var answered atomic.Int64
	var calls sync.WaitGroup
	for range redisconn.MaxCalls {
		calls.Go(func() {
			if _, err := s.Version(t.Context(), guild1); err == nil {
				answered.Add(1)
			}
		})
	}
	for waiting := 0; waiting < redisconn.MaxCalls; runtime.Gosched() {
		waiting, _ = s.Waiting()
	}
	if o, err := s.Change(t.Context(), guild1, nth(1), plus(1)); err == nil || !strings.Contains(err.Error(), "not sent: too many") {
		t.Errorf("one call too many: %+v (%v), want that it was not sent", o, err)
	}
	release()
	calls.Wait()
	if answered.Load() != redisconn.MaxCalls {
		t.Errorf("%d of %d calls were answered, want all", answered.Load(), redisconn.MaxCalls)
	}
	if o, err := s.Change(t.Context(), guild1, nth(1), plus(1)); err != nil || o.After != 101 {
		t.Errorf("a call after the flood: %+v (%v), want 101 XP", o, err)
	}
}

func TestACallerWhoLeavesBeforeTheSendChangesNothing(t *testing.T) {
	s := newBoard(connect(t, testenv.Redis(t).URL()))
	loadGuild(t, s, guild1, nth(1), nth(2))
	ctx, leave := context.WithCancel(t.Context())
	b := newBatch(t, s)
	var left error
	b.add(func() { _, left = s.Change(ctx, guild1, nth(1), plus(1)) })
	stays := b.change(guild1, nth(2), plus(1))
	leave()
	b.send()
	if !errors.Is(left, context.Canceled) || !strings.Contains(left.Error(), "not sent") {
		t.Errorf("the caller who left got %v, want context.Canceled and that it was not sent", left)
	}
	stays.want(t, 100, 101)
	if m, err := s.Member(t.Context(), guild1, nth(1)); err != nil || m.XP != 100 {
		t.Errorf("after a change that was not sent the member has %d XP (%v), want 100", m.XP, err)
	}
}

// A caller that leaves a long queue does not wait for its turn.
func TestACallerLeavesALongQueueAtOnce(t *testing.T) {
	s, stop := newStopped(t)
	b := newBatch(t, s)
	for range redisconn.BatchCalls + 1 {
		b.change(guild1, nth(1), plus(1))
	}
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	b.add(func() {
		_, err := s.Change(ctx, guild1, nth(1), plus(1))
		left <- err
	})
	leave()
	b.calls.Go(b.release)
	<-stop.arrived // the first batch is being sent, the second is not
	if err, _ := testenv.Receive(t, left, "the caller who left returns"); !errors.Is(err, context.Canceled) {
		t.Errorf("the caller who left got %v, want context.Canceled", err)
	}
	stop.letGo <- struct{}{}
	<-stop.arrived
	stop.letGo <- struct{}{}
	b.calls.Wait()
}
