package config

import "github.com/corelane/corelane/pool"

// setHealth translates what says when an endpoint is left out, other than
// passive ejection.
func setHealth(s *Service, cfg *pool.ServiceConfig) {
	cfg.Panic, cfg.WarmUp, cfg.SlowStart = float64(s.Health.Panic), s.WarmUp, s.SlowStart
	a := s.Health.Active
	if a == nil {
		return
	}
	expect, _ := parseStatuses(string(a.Expect)) // read once already, with the document
	cfg.Check = &pool.Check{
		Path: a.Path, Host: a.Host, Port: a.Port, Interval: a.Interval, Timeout: a.Timeout,
		Rise: a.Rise, Fall: a.Fall, Expect: expect, Body: a.Body,
	}
	if a.Kind == "tcp" {
		cfg.Check.Kind = pool.CheckTCP
	}
}
