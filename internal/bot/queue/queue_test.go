package queue_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"levelboard/internal/bot/queue"
)

func open(t *testing.T, dir string, limit int) *queue.Queue {
	t.Helper()
	q, err := queue.Open(dir, limit)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func flush(t *testing.T, q *queue.Queue) (dropped int) {
	t.Helper()
	dropped, err := q.Flush()
	if err != nil {
		t.Fatal(err)
	}
	return dropped
}

func next(t *testing.T, q *queue.Queue) queue.Batch {
	t.Helper()
	b, ok, err := q.Next("1")
	if err != nil || !ok {
		t.Fatalf("no batch: %t, %v", ok, err)
	}
	return b
}

func TestABatchIsTheSameAfterARestart(t *testing.T) {
	dir := t.TempDir()
	q := open(t, dir, 100)
	q.Add("1", "m", []byte("a"))
	if _, ok, _ := q.Next("1"); ok {
		t.Error("a batch is handed out that is not on disk")
	}
	flush(t, q)
	first := next(t, q)
	q.Add("1", "m", []byte("b")) // after the batch was handed out
	flush(t, q)
	q = open(t, dir, 100)
	again := next(t, q)
	if again.Name != first.Name || len(again.Items) != 1 || string(again.Items[0]) != "a" || q.Len() != 2 {
		t.Errorf("after a restart the batch is %s %s of %d, was %s %s", again.Name, again.Items, q.Len(), first.Name, first.Items)
	}
	if err := q.Done(again); err != nil {
		t.Fatal(err)
	}
	if b := next(t, q); string(b.Items[0]) != "b" {
		t.Errorf("then comes %s", b.Items)
	}
}

func TestKindsStayInOrder(t *testing.T) {
	q := open(t, t.TempDir(), 100)
	for i, kind := range []string{"m", "m", "gone", "m"} {
		q.Add("1", kind, fmt.Append(nil, i))
	}
	flush(t, q)
	got := ""
	for !q.Empty("1") {
		b := next(t, q)
		got += fmt.Sprintf("%s%d ", b.Kind, len(b.Items))
		if err := q.Done(b); err != nil {
			t.Fatal(err)
		}
	}
	if got != "m2 gone1 m1 " {
		t.Errorf("the batches are %s", got)
	}
}

func TestTheOldestAreDropped(t *testing.T) {
	q := open(t, t.TempDir(), 1000)
	for i := range 3000 {
		q.Add(fmt.Sprint(1+i/1000), "m", fmt.Append(nil, i))
	}
	if dropped := flush(t, q); dropped != 2000 || q.Len() != 1000 || !q.Empty("1") || !q.Empty("2") {
		t.Errorf("%d were dropped, %d are left, of guilds %v", dropped, q.Len(), q.Guilds())
	}
}

func TestALineThatAKillCutOffIsLeftOut(t *testing.T) {
	dir := t.TempDir()
	q := open(t, dir, 100)
	q.Add("1", "m", []byte("whole"))
	flush(t, q)
	name := next(t, q).Name
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("ha"); err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	if b := next(t, open(t, dir, 100)); len(b.Items) != 1 {
		t.Errorf("the batch is %s", b.Items)
	}
	if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode is %v (%v)", info.Mode(), err)
	}
}

func TestSeenRemembersTheLast(t *testing.T) {
	path := filepath.Join(t.TempDir(), "seen")
	s, err := queue.OpenSeen(path, 10)
	if err != nil {
		t.Fatal(err)
	}
	for id := range 100 {
		if !s.Add(fmt.Sprint(id)) || s.Add(fmt.Sprint(id)) {
			t.Errorf("%d is not new once", id)
		}
		if err := s.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if s, err = queue.OpenSeen(path, 10); err != nil {
		t.Fatal(err)
	}
	if s.Add("90") || !s.Add("89") {
		t.Error("after a restart the last 10 are not those that are known")
	}
}
