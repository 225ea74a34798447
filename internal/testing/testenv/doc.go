// Package testenv gives tests real servers of their own: a redis-server or a
// postgres process on a free loopback port, with its own directory, that a
// test may stop, kill, pause and start again; a prometheus; and a headless Chromium. It starts no Levelboard.
//
// Nothing outlives the test binary: servers stop in tb.Cleanup or in [Main],
// and a watchdog kills them and removes their directories when the binary is
// itself killed.
//
// Servers report trouble through the testing.TB that made them, so their
// methods belong on that test's goroutine.
package testenv
