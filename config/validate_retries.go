package config

import "fmt"

const needsAttempts = "a hedge is one of the attempts, and there are none: set attempts to 1 or more"

// validateRetries checks what a service says about retries.
func (d *draft) validateRetries(at place, r *ServiceRetries) {
	d.validateOn(at, "retries.on", r.On)
	if r.Hedge > 0 && r.Attempts == 0 {
		d.complain(at, "retries.hedge", needsAttempts)
	}
}

// validateRouteRetries checks what a route says. A hedge that it inherits is off
// with its attempts; one that it asks for must be possible.
func (d *draft) validateRouteRetries(at place, r *Route, services map[string]*Service) {
	if r.Retries == nil {
		return
	}
	d.validateOn(at, "retries.on", r.Retries.On)
	if r.Retries.Hedge == nil || *r.Retries.Hedge <= 0 {
		return
	}
	attempts, whose := 1, ""
	switch s := services[r.Service]; {
	case r.Retries.Attempts != nil:
		attempts = *r.Retries.Attempts
	case s != nil:
		attempts, whose = s.Retries.Attempts, fmt.Sprintf(" (those of the service %q)", s.Name)
	}
	if attempts == 0 {
		d.complain(at, "retries.hedge", needsAttempts+whose)
	}
}

// servicesByName are the services of the document.
func (d *draft) servicesByName() map[string]*Service {
	byName := make(map[string]*Service, len(d.doc.Services))
	for _, s := range d.doc.Services {
		byName[s.Name] = s
	}
	return byName
}
