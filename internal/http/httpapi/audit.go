package httpapi

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/audit"
)

// recorded puts into the context who makes a change and why, for the audit log.
func (a *api) recorded(c *gin.Context) {
	if c.Request.Method == http.MethodGet || c.Request.Method == http.MethodHead {
		return
	}
	by := audit.By{Actor: audit.TheOperator, RequestID: stateOf(c).ID}
	if key := callerOf(c).Key; key != nil {
		by.Actor = audit.Actor{Kind: audit.Key, ID: key.ID, Name: key.Name}
	}
	reason, _, err := header(c.Request.Header, "X-Audit-Log-Reason", "reason")
	if err == nil {
		by.Reason, err = audit.ParseReason(reason)
	}
	if err != nil {
		a.fail(c, err)
		return
	}
	c.Request = c.Request.WithContext(audit.With(c.Request.Context(), by))
}

type auditRecordJSON struct {
	ID        string         `json:"id"`
	At        *string        `json:"at"`
	Actor     actorJSON      `json:"actor"`
	Action    audit.Action   `json:"action"`
	UserID    *id.User       `json:"userId"`
	Before    jsontext.Value `json:"before"`
	After     jsontext.Value `json:"after"`
	Count     *int64         `json:"count"`
	Reason    *string        `json:"reason"`
	RequestID string         `json:"requestId"`
}

type actorJSON struct {
	Kind audit.Kind `json:"kind"`
	ID   string     `json:"id"`
	Name string     `json:"name"`
}

// readAudit answers with a page of a guild's audit log.
func (a *api) readAudit(r *request) (any, error) {
	g := r.guild()
	q := r.auditQuery()
	if r.err != nil {
		return nil, r.err
	}
	page, err := a.deps.Audit.Read(r.ctx, g, q)
	body := struct {
		Records []auditRecordJSON `json:"records"`
		Next    *string           `json:"next"`
	}{Records: make([]auditRecordJSON, len(page.Records))}
	for i := range page.Records {
		body.Records[i] = auditBody(&page.Records[i])
	}
	if page.Next != nil {
		body.Next = new(page.Next.String())
	}
	return body, err
}

// defaultAuditLimit is the number of records on a page without a limit in the query.
const defaultAuditLimit = 50

func (r *request) auditQuery() audit.Query {
	q := audit.Query{
		Limit: int(r.optionalInt("limit", 1, audit.MaxLimit, defaultAuditLimit)), User: id.User(r.query.Get("userId")), Actor: r.query.Get("actorId"),
	}
	if r.query.Has("before") {
		var err error
		if q.Before, err = audit.ParseID(r.query.Get("before")); err != nil {
			r.keep(fault.New(fault.Invalid, "The query parameter before %s.", err))
		}
	}
	if r.query.Has("userId") && !id.Valid(string(q.User)) {
		r.keep(fault.New(fault.Invalid, "The query parameter userId %s.", id.ErrSnowflake))
	}
	if r.query.Has("actorId") && (q.Actor == "" || len(q.Actor) > maxActorID) {
		r.keep(fault.New(fault.Invalid, "The query parameter actorId must be the id of an actor as a record has it."))
	}
	q.Since, q.Until = r.optionalTime("since"), r.optionalTime("until")
	return q
}

// optionalTime reads a time from the query; it is zero when there is none.
func (r *request) optionalTime(name string) time.Time {
	if !r.query.Has(name) {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, r.query.Get(name))
	if err != nil || at.Year() < 1970 {
		r.keep(fault.New(fault.Invalid, "The query parameter %s must be a time such as 2026-11-25T12:00:00Z.", name))
	}
	return at
}

// maxActorID bounds the id of an actor in the query, in bytes.
const maxActorID = 64

func auditBody(r *audit.Record) auditRecordJSON {
	by := r.By
	body := auditRecordJSON{
		ID: r.ID.String(), At: timestamp(r.At()), Actor: actorJSON{by.Actor.Kind, by.Actor.ID, by.Actor.Name}, Action: r.Action,
		Before: r.Before, After: r.After, Count: r.Count, RequestID: by.RequestID,
	}
	if r.UserID != "" {
		body.UserID = &r.UserID
	}
	if by.Reason != "" {
		body.Reason = &by.Reason
	}
	return body
}
