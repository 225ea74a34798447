package health_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"levelboard/internal/platform/health"
	"levelboard/internal/testing/testenv"
)

// Errors of connections are wrapped with an address and a password, which no reason may contain.
func TestReasonsExplainWithoutSecrets(t *testing.T) {
	const secret = "aSecretThatNobodySees"
	dial := func(network, address string) error {
		_, err := new(net.Dialer).DialContext(t.Context(), network, address)
		return err
	}
	for want, err := range map[string]error{
		"NOAUTH Authentication required":                    refusal("NOAUTH Authentication required"),
		`FATAL: no such database (SQLSTATE 3D000)`:          &pgconn.PgError{Severity: "FATAL", Message: "no such database", Code: "3D000"},
		"connection refused":                                dial("tcp", testenv.FreeAddr(t)),
		"no such file or directory":                         dial("unix", "/nowhere/"+secret),
		"no such host":                                      &net.DNSError{Err: "no such host", Name: secret, IsNotFound: true},
		"it does not answer in time":                        context.DeadlineExceeded,
		"it cannot be reached":                              errors.New("it is gone"),
		"reads work and changes do not: its memory is full": refusal("OOM command not allowed"),
	} {
		got := health.Reason(fmt.Errorf("ping redis://user:%s@host: %w", secret, err))
		if got != want || strings.Contains(got, secret) {
			t.Errorf("the reason of %q is %q, want %q", err, got, want)
		}
	}
}
