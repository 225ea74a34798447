package redisconn_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/store/redisconn"
	"levelboard/internal/testing/testenv"
)

// stopped blocks pipelines until the test lets them go, one for each value.
type stopped struct{ arrived, letGo chan struct{} }

func (s *stopped) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (s *stopped) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }
func (s *stopped) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		s.arrived <- struct{}{}
		<-s.letGo
		return next(ctx, cmds)
	}
}

// newStopped returns a store with a member in a guild, whose pipelines from now on are stopped.
func newStopped(t *testing.T) (*board, *stopped) {
	client := connect(t, testenv.Redis(t).URL())
	s := newBoard(client)
	loadGuild(t, s, guild1, nth(1))
	stop := &stopped{make(chan struct{}), make(chan struct{})}
	client.AddHook(stop)
	return s, stop
}

func TestABatchIsSentBesideAnotherOnceEnoughCallsWait(t *testing.T) {
	s, stop := newStopped(t)
	var calls sync.WaitGroup
	change := func() {
		calls.Go(func() {
			if _, err := s.Change(t.Context(), guild1, nth(1), plus(1)); err != nil {
				t.Error(err)
			}
		})
	}
	wait := func(wantCalls, wantSenders int) {
		t.Helper()
		testenv.Wait(t, fmt.Sprintf("%d calls wait and %d goroutines send", wantCalls, wantSenders), func() bool {
			waiting, senders := s.Waiting()
			return waiting == wantCalls && senders == wantSenders
		})
	}
	change() // the first is sent at once
	<-stop.arrived
	for n := range redisconn.CallsBeside - 1 { // fewer wait for it
		change()
		wait(n+1, 1)
	}
	change()
	<-stop.arrived                             // with one more they are sent beside it
	for n := range 3 * redisconn.CallsBeside { // and no third
		change()
		wait(n+1, 2)
	}
	stop.letGo <- struct{}{} // the sender that is back takes the waiting calls
	<-stop.arrived
	wait(0, 2)
	change()
	wait(1, 2)
	stop.letGo <- struct{}{} // one call is left to the other
	wait(1, 1)
	stop.letGo <- struct{}{}
	<-stop.arrived
	wait(0, 1)
	stop.letGo <- struct{}{}
	calls.Wait()
	wait(0, 0)
}
