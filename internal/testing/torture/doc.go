// Package torture holds the model test, and nothing that ships: replicas of the service as real processes, on a real
// Redis and a real Postgres, under the requests of many clients, while all of them are killed, stopped and cut off at
// random. A simple model of every member says what each answer, and what is left at the end, may be: its entry, and what it gained in the
// running day, week and month. A zone in which the day has just begun keeps a run within one day.
//
// With -short only a few seconds of the durable mode run.
//
//	TORTURE_TIME=10m go test -v -timeout 0 ./internal/testing/torture     (or make torture)
//	TORTURE_SEED=1234 ...                                                 the same choices again
package torture
