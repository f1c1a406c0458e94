package control

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/corelane/corelane/engine/explain"
	"github.com/corelane/corelane/engine/reactor"
)

// postExplain says what would become of a request now: in the published
// generation, with endpoints as the process knows them. It changes nothing.
func (n *Node) postExplain(w http.ResponseWriter, r *http.Request) {
	var question explain.Request
	if refused := readJSON(r, &question); refused != nil {
		refused.write(w)
		return
	}
	answer, err := explain.Explain(n.server.Current(), question, reactor.Monotonic())
	if err != nil {
		(&apiError{status: http.StatusBadRequest, Error: "bad_request", Message: err.Error()}).write(w)
		return
	}
	writeJSON(w, http.StatusOK, answer)
}

// readJSON reads a body that is one value without unknown fields.
func readJSON(r *http.Request, into any) *apiError {
	in := json.NewDecoder(r.Body)
	in.DisallowUnknownFields()
	err := in.Decode(into)
	if err == nil {
		if _, more := in.Token(); more != io.EOF {
			err = errors.New("there is more than one value")
		}
	}
	var large *http.MaxBytesError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &large):
		return &apiError{status: http.StatusRequestEntityTooLarge, Error: "body_too_large", Message: "the body is too large"}
	}
	return &apiError{status: http.StatusBadRequest, Error: "bad_request", Message: "the body is not what is wanted: " + err.Error()}
}
