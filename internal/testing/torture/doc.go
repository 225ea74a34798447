// Package torture runs replicas of the service as real processes, on a real Redis and a real Postgres, under the requests of many clients,
// while all of them are killed, stopped and disconnected at random. A simple model of every member says what each answer, and the data
// at the end, may be: its entry, and its gains in the running day, week and month. A zone whose day has just begun keeps a run within
// one day. Nothing here ships.
//
// With -short only the durable mode runs, for a few seconds.
//
//	TORTURE_TIME=10m go test -v -timeout 0 ./internal/testing/torture     (or make torture)
//	TORTURE_SEED=1234 ...                                                 the same choices again
package torture
