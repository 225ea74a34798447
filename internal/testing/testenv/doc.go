// Package testenv gives tests their own real servers: a redis-server or postgres
// on a free loopback port, with its own directory, that a test may stop, kill,
// pause and start again; a prometheus; and a headless Chromium. It starts no Levelboard.
//
// No server outlives the test binary: it is stopped in tb.Cleanup or in [Main],
// and a watchdog kills it and removes its directory when the binary itself is
// killed.
//
// Servers report errors to the testing.TB that made them, so call their methods
// on that test's goroutine.
package testenv
