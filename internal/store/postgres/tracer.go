package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Observer hears of each query after it, with its operation, and of each wait for a connection, as wait_for_connection unless there was none
// to be had. err is set only if the server failed or was not there, not for a broken constraint or a caller who went away.
type Observer func(ctx context.Context, operation string, began time.Time, err error)

type (
	operationKey struct{}
	beganKey     struct{}
)

// named is ctx for the queries of an operation.
func named(ctx context.Context, operation string) context.Context {
	return context.WithValue(ctx, operationKey{}, operation)
}

// tracer is a pgx.QueryTracer and a pgxpool.AcquireTracer. Queries outside an operation, such as migrations, are not observed.
type tracer struct{ observe Observer }

func (tracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return context.WithValue(ctx, beganKey{}, time.Now())
}

func (t tracer) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, end pgx.TraceQueryEndData) {
	t.ended(ctx, "", end.Err)
}

func (tracer) TraceAcquireStart(ctx context.Context, _ *pgxpool.Pool, _ pgxpool.TraceAcquireStartData) context.Context {
	return context.WithValue(ctx, beganKey{}, time.Now())
}

func (t tracer) TraceAcquireEnd(ctx context.Context, _ *pgxpool.Pool, end pgxpool.TraceAcquireEndData) {
	if end.Err != nil {
		t.ended(ctx, "", end.Err)
	} else {
		t.ended(ctx, "wait_for_connection", nil)
	}
}

func (t tracer) ended(ctx context.Context, as string, err error) {
	operation, ok := ctx.Value(operationKey{}).(string)
	began, _ := ctx.Value(beganKey{}).(time.Time)
	if !ok {
		return
	}
	if as != "" {
		operation = as
	}
	if isAnswer(err) {
		err = nil
	}
	t.observe(ctx, operation, began, err)
}

// isAnswer reports whether the server is well and found something wrong with a value (class 22) or with a constraint (23).
func isAnswer(err error) bool {
	var said *pgconn.PgError
	return errors.Is(err, context.Canceled) || errors.As(err, &said) && (said.Code[:2] == "22" || said.Code[:2] == "23")
}
