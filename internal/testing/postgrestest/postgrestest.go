// Package postgrestest makes migrated Postgres databases for tests.
package postgrestest

import (
	"context"
	"testing"

	"levelboard/internal/store/postgres"
	"levelboard/internal/testing/testenv"
)

// URL returns the URL of a new, migrated database.
func URL(tb testing.TB) string {
	tb.Helper()
	return testenv.PostgresCopy(tb, func(url string) error {
		a, err := postgres.Open(context.Background(), url, nil, nil)
		if err != nil {
			return err
		}
		defer a.Close()
		return a.Migrate(context.Background())
	})
}

// Open returns the archive in a database, migrated, and closes it when the test ends.
func Open(tb testing.TB, url string) *postgres.Archive {
	tb.Helper()
	a, err := postgres.Open(tb.Context(), url, nil, nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(a.Close)
	if err := a.Migrate(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return a
}
