package postgres

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
)

// slow is an asker of which the test answers each query: with twice what was asked, or an error.
type slow struct {
	asker[int, int]
	queries chan []int
	answers chan error
}

func newSlow() *slow {
	s := &slow{queries: make(chan []int), answers: make(chan error)}
	s.ask = func(ctx context.Context, questions []int) ([]int, error) {
		s.queries <- questions
		if err := errors.Join(<-s.answers, ctx.Err()); err != nil {
			return nil, err
		}
		answers := make([]int, len(questions))
		for i, q := range questions {
			answers[i] = 2 * q
		}
		return answers, nil
	}
	return s
}

type answer struct {
	of, is int
	err    error
}

// all asks from first to last at the same time, and returns once all of them wait, in order.
func (s *slow) all(ctx context.Context, first, last int) (answers chan answer) {
	answers = make(chan answer, last-first+1)
	for of := first; of <= last; of++ {
		before := s.count()
		go func() {
			is, err := s.do(ctx, of)
			answers <- answer{of, is, err}
		}()
		for s.count() == before { // it is on its way to the queue
		}
	}
	return answers
}

func (s *slow) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting)
}

// begun asks one question, and returns once it is a query.
func (s *slow) begun(t *testing.T, ctx context.Context, of int) (answers chan answer) {
	t.Helper()
	answers = make(chan answer, 1)
	go func() {
		is, err := s.do(ctx, of)
		answers <- answer{of, is, err}
	}()
	if q := <-s.queries; !slices.Equal(q, []int{of}) {
		t.Fatalf("asked %v, want %d at once", q, of)
	}
	return answers
}

func seq(first, last int) (s []int) {
	for i := first; i <= last; i++ {
		s = append(s, i)
	}
	return s
}

func wantAnswers(t *testing.T, answers chan answer, n int, err error) {
	t.Helper()
	for range n {
		if a := <-answers; !errors.Is(a.err, err) || err == nil && (a.err != nil || a.is != 2*a.of) {
			t.Errorf("%d was answered %d, %v; want %v", a.of, a.is, a.err, err)
		}
	}
}

// A question that finds no query under way is one; what comes meanwhile is the next, and no query is larger than the bound.
func TestQuestionsThatComeMeanwhileShareAQuery(t *testing.T) {
	s := newSlow()
	first := s.begun(t, t.Context(), 1)
	rest := s.all(t.Context(), 2, 151)
	s.answers <- nil
	wantAnswers(t, first, 1, nil)
	for _, want := range [][]int{seq(2, 101), seq(102, 151)} {
		if q := <-s.queries; !slices.Equal(q, want) {
			t.Errorf("asked %v, want %v", q, want)
		}
		s.answers <- nil
		wantAnswers(t, rest, len(want), nil)
	}
	// Once nobody waits the next one is asked at once again.
	again := s.begun(t, t.Context(), 7)
	s.answers <- nil
	wantAnswers(t, again, 1, nil)
}

func TestAnErrorIsThatOfAllWhoAsked(t *testing.T) {
	broken := errors.New("broken")
	s := newSlow()
	first := s.begun(t, t.Context(), 1)
	rest := s.all(t.Context(), 2, 9)
	s.answers <- nil
	wantAnswers(t, first, 1, nil)
	<-s.queries
	later := s.all(t.Context(), 10, 10)
	s.answers <- broken
	wantAnswers(t, rest, 8, broken)
	<-s.queries
	s.answers <- nil
	wantAnswers(t, later, 1, nil) // and not of the next query
}

// A caller that leaves, even the one whose question began the query, ends it for nobody; and a question that comes with nobody to hear
// the answer is not asked.
func TestACallerThatLeavesDoesNotEndTheQuery(t *testing.T) {
	s := newSlow()
	leaves, leave := context.WithCancel(t.Context())
	before := s.begun(t, t.Context(), 1)
	gone := s.all(leaves, 2, 2)
	stays := s.all(t.Context(), 3, 3)
	s.answers <- nil
	wantAnswers(t, before, 1, nil)
	if q := <-s.queries; !slices.Equal(q, []int{2, 3}) {
		t.Fatalf("asked %v, want 2 and 3", q)
	}
	leave()
	wantAnswers(t, gone, 1, context.Canceled)
	s.answers <- nil
	wantAnswers(t, stays, 1, nil)
	if _, err := s.do(leaves, 4); !errors.Is(err, context.Canceled) {
		t.Errorf("a question of a caller that has left: %v", err)
	}
}

func TestManyAskersAtOnce(t *testing.T) {
	var largest int
	var mu sync.Mutex
	k := &asker[int, int]{ask: func(_ context.Context, questions []int) ([]int, error) {
		mu.Lock()
		defer mu.Unlock()
		largest = max(largest, len(questions))
		return questions, nil
	}}
	var all sync.WaitGroup
	for i := range 2000 {
		all.Go(func() {
			if got, err := k.do(t.Context(), i); got != i || err != nil {
				t.Errorf("%d was answered %d, %v", i, got, err)
			}
		})
	}
	all.Wait()
	if largest > mostAsked {
		t.Errorf("%d questions in a query, want at most %d", largest, mostAsked)
	}
}
