package config

import (
	"errors"
	"time"

	"github.com/corelane/corelane/filters"
)

// stamp is a filter with options of many kinds.
type stamp struct {
	Header string        `yaml:"header"`
	Trust  bool          `yaml:"trust"`
	Level  int           `yaml:"level" min:"1" max:"9"`
	Wait   time.Duration `yaml:"wait"`
	Set    []struct {
		Name, Value string
	} `yaml:"set"`
	Secret  string `yaml:"secret"`
	Service string `yaml:"service"`
}

func (s *stamp) Provision() error {
	if s.Header == "" {
		return errors.New("a header is needed")
	}
	if s.Secret == "reject-me" {
		return errors.New("the secret " + s.Secret + " is not good")
	}
	if s.Header == "panic" {
		panic("this header")
	}
	return nil
}

func (s *stamp) OnRequest(*filters.Context) filters.Verdict { return filters.Continue }

// answer answers every request.
type answer struct {
	Status int `yaml:"status" min:"200" max:"599"`
}

func (a *answer) Answers() bool { return true }

func (a *answer) OnRequest(ctx *filters.Context) filters.Verdict { return ctx.Respond(a.Status, nil) }

// ask is a filter that calls a service.
type ask struct {
	Service string `yaml:"service"`
}

func (a *ask) Services() []string { return []string{a.Service} }

func init() {
	filters.Register(filters.Kind{Name: "ask", Doc: "for tests", New: func() any { return &ask{Service: "auth"} }})
	filters.Register(filters.Kind{Name: "stamp", Doc: "for tests", New: func() any { return &stamp{Header: "X-Stamp", Level: 1} }})
	filters.Register(filters.Kind{Name: "answer", Doc: "for tests", New: func() any { return &answer{Status: 200} }})
}
