package storetest

import (
	"context"
	"testing"

	"levelboard/internal/store/postgres"
	"levelboard/internal/testing/testenv"
)

// PostgresURL returns the URL of a migrated database of the test's own.
func PostgresURL(tb testing.TB) string {
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
