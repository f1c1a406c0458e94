package config

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// validateHealth checks what is asked of endpoints.
func (d *draft) validateHealth(at place, s *Service) {
	a := s.Health.Active
	if a == nil {
		return
	}
	const here = "health.active."
	if problem := pageProblem(a.Path); problem != "" {
		d.complain(at, here+"path", problem)
	}
	if strings.ContainsFunc(a.Host, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`/?#@\"`, r) }) {
		d.complain(at, here+"host", fmt.Sprintf("%q is not a host", a.Host))
	}
	if a.Kind == "tcp" {
		for key, text := range map[string]string{"host": a.Host, "body": a.Body} {
			if text != "" {
				d.complain(at, here+key, "a tcp check only opens a connection: use kind http")
			}
		}
	}
	if a.Kind == "http" && a.Port == 0 && s.ProxyProtocol != "none" {
		d.complain(at, here+"kind", "a check sends no PROXY header, which the endpoint waits for: use kind tcp, or a port without it")
	}
	for i, e := range s.Endpoints {
		if a.Port != 0 && strings.HasPrefix(e.Address, "unix:") {
			d.complain(at, here+"port", "endpoints["+strconv.Itoa(i)+"] is a unix socket and has no ports")
		}
	}
}

// pageProblem checks the target of a request in origin form (RFC 9112 §3.2.1).
func pageProblem(path string) string {
	if u, err := url.ParseRequestURI(path); err != nil || !strings.HasPrefix(path, "/") || u.Host != "" ||
		strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r > '~' || r == '#' }) {
		return fmt.Sprintf("%q is not a path such as /healthz", path)
	}
	return ""
}
