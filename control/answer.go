package control

import (
	"encoding/json"
	"net/http"
)

// apiError is an answer that says why there is no other.
type apiError struct {
	status  int
	Error   string `json:"error"`
	Message string `json:"message"`
}

func (e *apiError) write(w http.ResponseWriter) {
	if e.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	writeJSON(w, e.status, e)
}

// writeJSON sends a value. What cannot be sent is lost: the client has gone.
func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	_ = out.Encode(value)
}
