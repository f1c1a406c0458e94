package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/corelane/corelane/bench/loopback"
	"github.com/corelane/corelane/bench/process"
	"github.com/corelane/corelane/bench/program"
	"github.com/corelane/corelane/bench/wire"
)

// upstreamConnections bounds what the gateway opens to an origin: enough for
// HTTP, where each exchange has one. Message protocols share one.
const upstreamConnections = 1024

// lane is a way through the gateway: the protocol of its clients and that of its
// service.
type lane struct {
	name, client, service string
}

var lanes = []lane{
	{"http", "http", "http"},
	{"frame", "frame", "frame"},
	{"http-frame", "http", "frame"},
	{"dubbo", "dubbo", "dubbo"},
}

func laneNames() []string {
	var names []string
	for _, l := range lanes {
		names = append(names, l.name)
	}
	return names
}

func laneNamed(name string) *lane {
	for i := range lanes {
		if lanes[i].name == name {
			return &lanes[i]
		}
	}
	return nil
}

// contender is a lane whose gateway runs.
type contender struct {
	*process.Process
	lane *lane
}

// place is what a gateway's configuration is made from.
type place struct {
	Dir, Listen, Admin, Origin string
	Client, Service            string
	Interface, Method          string
	Pool                       int
}

// startGateway runs a gateway for a lane.
func (s *session) startGateway(ctx context.Context, l *lane) (*contender, error) {
	free, err := loopback.FreeAddresses(2)
	if err != nil {
		return nil, err
	}
	p := &place{
		Dir: filepath.Join(s.dir, "lane-"+l.name), Listen: free[0], Admin: free[1], Origin: s.origins[l.service].Address,
		Client: l.client, Service: l.service, Interface: s.o.call.Interface, Method: s.o.call.Method, Pool: upstreamConnections,
	}
	if err := os.MkdirAll(p.Dir, 0o755); err != nil {
		return nil, err
	}
	config := filepath.Join(p.Dir, "corelane.yaml")
	if err := program.Render(s.o.path("bench/conf/messages.yaml"), config, p); err != nil {
		return nil, err
	}
	cmd := process.Pinned(ctx, s.o.proxyCPU, s.o.path(s.o.gateway), "run", "-c", config)
	started, err := process.Start(ctx, l.name, cmd, p.Listen, filepath.Join(p.Dir, "output.log"))
	if err != nil {
		return nil, err
	}
	return &contender{Process: started, lane: l}, nil
}

// startOrigin runs the service of a protocol.
func (s *session) startOrigin(ctx context.Context, protocol string) error {
	free, err := loopback.FreeAddresses(1)
	if err != nil {
		return err
	}
	args := []string{"-listen", free[0]}
	pkg := ownOrigin
	switch {
	case protocol == "http":
		pkg = "./bench/origin"
	case protocol == "frame" && s.o.echoes():
		pkg, args = s.o.frameOrigin, append(args, s.o.frameArgs...)
	default:
		args = append(args, "-protocol", protocol, "-answer", strconv.Itoa(s.o.size))
	}
	binary, err := s.build(ctx, pkg)
	if err != nil {
		return err
	}
	name := "origin-" + protocol
	cmd := process.Pinned(ctx, s.o.originCPU, binary, args...)
	s.origins[protocol], err = process.Start(ctx, name, cmd, free[0], filepath.Join(s.dir, name+".log"))
	return err
}

// loadCommand is the program that asks a lane, and its arguments.
func (s *session) loadCommand(l *lane, address string, duration time.Duration) []string {
	if l.client == "http" {
		return []string{
			"wrk", "-t1", "-c", strconv.Itoa(s.o.streams), "-d", strconv.Itoa(int(duration.Seconds())) + "s",
			"-s", s.o.path("bench/wrk/report.lua"), fmt.Sprintf("http://%s/%d", address, s.o.size),
		}
	}
	// A service that only echoes is sent what it shall answer.
	size := wire.NonceLength
	if l.service == "frame" && s.o.echoes() {
		size = s.o.size
	}
	return []string{
		s.load, "-protocol", l.client, "-interface", s.o.call.Interface, "-method", s.o.call.Method,
		"-connections", strconv.Itoa(s.o.connections), "-streams", strconv.Itoa(s.o.streams / s.o.connections),
		"-size", strconv.Itoa(size), "-answer", strconv.Itoa(s.o.size), "-duration", duration.String(), address,
	}
}
