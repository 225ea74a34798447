// Package redisstore is the live store: the boards of the loaded guilds in Redis, on redisconn. Each operation on a board has a
// file, with its Lua script of the same name beside it. A file for an operation of several steps, such as hydrate.go, names its scripts
// at the top. docs/redis-keys.md lists the keys. A change is one script, which is atomic and is never sent twice.
//
// It does not connect, batch or find servers (redisconn), decide when a guild is loaded (hydrate) or written (snapshot), or compute levels.
//
// # Adding a script
//
//  1. The interface of the use case that needs it, such as leaderboard.Board, has a method for it. Its test is in storetest, which runs
//     on Redis and on the embedded server.
//  2. The Lua file begins with what it does and with KEYS, ARGV, what it returns, its refusals, and what is atomic. It touches only keys that it is
//     passed, of one guild, so that a cluster takes it, and answers a refusal before its first write. Common parts of scripts are files of prelude.
//  3. It answers an array of names and values; large numbers stay texts, since Lua's would lose digits. It asks the server for the time (now.lua), and
//     never takes it from the caller. It reads at most some thousand elements: while it runs, the server does nothing else.
//  4. The Go file of the same name has newScript(name, the files of prelude that it uses, in their order), and the method: s.run with the keys of
//     keysOf, in the order of KEYS, then the readers of reply, and reply.done. A script that changes members has newChangeScript and s.change
//     (change.go), and so waits for replicas.
//  5. A new refusal has its error in refusals (script.go). When a key means something else than before, raise format, and change docs/redis-keys.md.
//  6. The smoke list (smoke_test.go) runs each script and meets each refusal, and fails until it has yours; the test of the least rights
//     (acl_test.go) fails when it needs a command that docs/security.md does not grant.
package redisstore
