package httpapi

import (
	"encoding/hex"
	"net/http"
	"strings"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/hidden"
	"levelboard/internal/http/edge"
	"levelboard/internal/platform/strictjson"
	"levelboard/internal/usecase/importer"
	"levelboard/internal/usecase/leaderboard"
)

// importRequest is the body of POST of imports. Files is the SHA-256 of the
// files, if they must not be applied twice. Plan is that of the import's calls.
type importRequest struct {
	Files strictjson.Optional[string] `json:"files"`
	Plan  strictjson.Optional[string] `json:"plan"`
	Again strictjson.Optional[bool]   `json:"again"`
}

// finishRequest is the body of POST of finish: the number of imported members.
type finishRequest struct {
	Members int64 `json:"members" bounds:"0..9007199254740991"`
}

// importedMember is a putMemberRequest with presence.
type importedMember struct {
	putMemberRequest
	Present strictjson.Optional[bool]     `json:"present"`
	Hidden  strictjson.Optional[[]string] `json:"hidden" items:"0..100"`
}

func (m *importedMember) put(place string) (leaderboard.Put, error) {
	p, err := m.putMemberRequest.put(place)
	p.Absent = !m.Present.Or(true)
	p.Hidden, _ = hidden.Parse(m.Hidden.Or(nil)...) // an unknown word sets no flag
	return p, err
}

// beginImport makes a checkpoint, and names the import for the Idempotency-Keys of its calls.
func (a *api) beginImport(r *request) (any, error) {
	g := r.adminGuild()
	var sent importRequest
	r.decode(&sent)
	begin, err := sent.begin()
	r.keep(err)
	if r.err != nil {
		return nil, r.err
	}
	r.status = http.StatusCreated
	return a.deps.Checkpoints.BeginImport(r.ctx, g, begin)
}

func (r *importRequest) begin() (b importer.Begin, err error) {
	b.Again = r.Again.Or(false)
	for _, p := range []struct {
		name string
		sent *strictjson.Optional[string]
		into *string
	}{{"files", &r.Files, &b.Files}, {"plan", &r.Plan, &b.Plan}} {
		given := false
		if *p.into, given = p.sent.Get(); given && !isSHA256(*p.into) {
			return b, fault.At(p.name, "must be a SHA-256, 64 hexadecimal digits in lower case")
		}
	}
	return b, nil
}

func isSHA256(text string) bool {
	_, err := hex.DecodeString(text)
	return err == nil && len(text) == 64 && text == strings.ToLower(text)
}

// importMembers is the operator's putMembers: without events and gains, but with presence.
func (a *api) importMembers(r *request) (any, error) { return a.put(r, readImport) }

func readImport(sent []byte) (leaderboard.Puts, error) {
	puts, err := readPutsOf(sent, (*importedMember).put)
	puts.Import = true
	return puts, err
}

// finishImport notes that an import was applied, and makes followers of the guild read its members again.
func (a *api) finishImport(r *request) (any, error) {
	g := r.adminGuild()
	var sent finishRequest
	r.decode(&sent)
	if r.err != nil {
		return nil, r.err
	}
	return nil, a.deps.Checkpoints.FinishImport(r.ctx, g, r.c.Param("importId"), sent.Members)
}

// exportMembers streams all members, with every change made before the request.
func (a *api) exportMembers(r *request) error {
	gid := r.adminGuild()
	format := importer.Format(r.query.Get("format"))
	if !format.Valid() {
		r.keep(fault.New(fault.Invalid, "The query parameter format must be json or csv."))
	}
	if r.err != nil {
		return r.err
	}
	g, members, err := a.deps.Checkpoints.Export(r.ctx, gid)
	if err != nil {
		return err
	}
	return edge.Export(r.c, a.log, format, g, members)
}
