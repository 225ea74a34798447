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

// stopped blocks pipelines. Each value in letGo releases one.
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

// newStopped returns a store with a member in a guild, whose pipelines are blocked from now on.
func newStopped(t *testing.T) (*board, *stopped) {
	client := connect(t, testenv.Redis(t).URL())
	s := newBoard(client)
	loadGuild(t, s, guild1, nth(1))
	stop := &stopped{make(chan struct{}), make(chan struct{})}
	client.AddHook(stop)
	return s, stop
}

func TestEnoughWaitingCallsStartASecondSender(t *testing.T) {
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
	for n := range redisconn.CallsBeside - 1 { // too few for a second sender
		change()
		wait(n+1, 1)
	}
	change()
	<-stop.arrived                             // one more starts a second sender
	for n := range 3 * redisconn.CallsBeside { // more start no third
		change()
		wait(n+1, 2)
	}
	stop.letGo <- struct{}{} // the first sender takes the waiting calls
	<-stop.arrived
	wait(0, 2)
	change()
	wait(1, 2)
	stop.letGo <- struct{}{} // the other sender has one call left
	wait(1, 1)
	stop.letGo <- struct{}{}
	<-stop.arrived
	wait(0, 1)
	stop.letGo <- struct{}{}
	calls.Wait()
	wait(0, 0)
}
