// Package httpapi serves /v2 and /admin. Handlers read a request strictly, call a use case and write its answer. Every
// failure is a fault, which becomes a status and a {message} in one place (respond.go). Rules and stores are elsewhere.
//
// # Adding an endpoint
//
//  1. docs/openapi.json has the path, with an example of each parameter, body and answer, and an operationId. Tests hold every answer to it,
//     and send every route of it without a key, with a wrong one, without a grant, with broken ids, queries and bodies, and without Redis
//     (apitest.Calls): these need no test of yours.
//  2. routes.go has the route, in the group that says who may call it: open, keyed or operator. A slow route has edge.Slow before its handler.
//  3. A file named after the endpoint has the handler, which reads the request line by line (read.go, readquery.go) in the order of the checks:
//     path and query, headers, body, then r.permitted() (the guild, and a key that may), r.enabled() (and leveling is on) or r.readable() (any
//     caller who may read the board). After an error these lines do nothing; return r.err once, before the use case is called. Return what the use case
//     returned, or a struct with json tags; nil is an answer without a body. privateJSON in routes.go is for answers that depend on the key.
//  4. The use case is a method of a field of Deps, which are the types themselves. A method that changes members takes r.once(). Each
//     change is in the audit log by its context (audit.go). A new store method has its test in storetest.
//  5. The new behaviour has a test in internal/app, on the whole service, and a line in its page of docs/.
package httpapi
