package stores

import (
	"os"
	"path/filepath"
	"testing"

	"levelboard/internal/testing/postgrestest"
	"levelboard/internal/testing/testenv"
)

// Restorable returns a World on servers whose Redis can be restored from a dump.
func Restorable(t *testing.T) *World {
	t.Helper()
	server := testenv.Redis(t)
	w := New(t, server.URL(), postgrestest.Open(t, postgrestest.URL(t)))
	w.Server = server
	return w
}

// Keep returns the server's data as a dump.
func (w *World) Keep() []byte {
	w.Helper()
	w.Must(w.Redis.Save(w.Context()).Err())
	dump, err := os.ReadFile(filepath.Join(w.Server.Dir(), "dump.rdb"))
	w.Must(err)
	return dump
}

// GoBack kills the server and starts it with the dump.
func (w *World) GoBack(dump []byte) {
	w.Helper()
	w.Server.Kill()
	w.Must(os.WriteFile(filepath.Join(w.Server.Dir(), "dump.rdb"), dump, 0o600))
	w.Server.Start()
	w.Must(w.Redis.Ping(w.Context()).Err()) // go-redis replaces its broken connections
}
