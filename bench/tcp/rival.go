package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/corelane/corelane/bench/loopback"
	"github.com/corelane/corelane/bench/process"
	"github.com/corelane/corelane/bench/program"
)

// stream is nginx's module, which Debian has apart.
const stream = "/usr/lib/nginx/modules/ngx_stream_module.so"

// place is what a rival's configuration is made from.
type place struct {
	Dir, Listen, Admin, Service string
	Splice, Large               bool
}

// rival is a proxy that can be measured.
type rival struct {
	name, program string // "": Corelane
	args          []string
	config        string
	splice        bool // HAProxy is asked to; Corelane does
	large         bool // buffers and pipes larger than their maker's default
}

const corelaneConfig = `engine: {loops: 1}
listeners: [{name: in, address: "{{.Listen}}", protocol: tcp, service: origin}]
admin: {address: "{{.Admin}}"}
log: {access: {path: none}, level: warn}
config: {cache: "{{.Dir}}/cache"}
services: [{name: origin, protocol: tcp, pool: {max_connections: 0}, endpoints: [{address: "{{.Service}}"}]}]
`

// Not splice-auto, which rarely begins.
const haproxyConfig = `global
    nbthread 1
    maxconn 4096
{{if .Large}}    tune.pipesize 524288
{{end}}defaults
    mode tcp
    timeout connect 3s
    timeout client 300s
    timeout server 300s
    no log
{{if .Splice}}    option splice-request
    option splice-response
{{end}}listen in
    bind {{.Listen}}
    server origin {{.Service}}
`

const nginxConfig = `daemon off;
master_process off;
worker_processes 1;
pid {{.Dir}}/pid;
error_log stderr crit;
load_module ` + stream + `;
events { worker_connections 4096; }
stream {
    server {
        listen {{.Listen}};
        proxy_pass {{.Service}};
{{if .Large}}        proxy_buffer_size 64k;
{{end}}    }
}
`

var rivals = []rival{
	{name: "corelane", config: corelaneConfig, splice: true, args: []string{"run", "-c"}},
	{name: "corelane-copying", config: corelaneConfig, args: []string{"run", "-c"}},
	{name: "haproxy", program: "haproxy", config: haproxyConfig, args: []string{"-db", "-f"}},
	{name: "haproxy-splice", program: "haproxy", config: haproxyConfig, splice: true, args: []string{"-db", "-f"}},
	{name: "haproxy-splice-large", program: "haproxy", config: haproxyConfig, splice: true, large: true, args: []string{"-db", "-f"}},
	{name: "nginx", program: "nginx", config: nginxConfig, args: []string{"-c"}},
	{name: "nginx-large", program: "nginx", config: nginxConfig, large: true, args: []string{"-c"}},
}

func rivalNames() string {
	var names []string
	for _, r := range rivals {
		names = append(names, r.name)
	}
	return strings.Join(names, ",")
}

func rivalNamed(name string) (*rival, error) {
	i := slices.IndexFunc(rivals, func(r rival) bool { return r.name == name })
	if i < 0 {
		return nil, fmt.Errorf("%q is not a rival: %s", name, rivalNames())
	}
	return &rivals[i], nil
}

// start runs a rival in front of the service.
func (r *rival) start(ctx context.Context, o options, service, dir string) (*process.Process, error) {
	addresses, err := loopback.FreeAddresses(2)
	if err != nil {
		return nil, err
	}
	p := place{Dir: dir, Listen: addresses[0], Admin: addresses[1], Service: service, Splice: r.splice, Large: r.large}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "conf.yaml")
	if err := program.RenderText(r.config, config, p); err != nil {
		return nil, err
	}
	program := r.program
	if program == "" {
		if program, err = r.gateway(ctx, o, dir); err != nil {
			return nil, err
		}
	}
	cmd := process.Pinned(ctx, o.proxyCPU, program, append(slices.Clone(r.args), config)...)
	return process.Start(ctx, r.name, cmd, p.Listen, filepath.Join(dir, "output"))
}

// gateway returns the program to measure. The one that only copies is built from
// the same source, with what systems without splice(2) have instead of it.
func (r *rival) gateway(ctx context.Context, o options, dir string) (string, error) {
	if r.splice {
		return o.path(o.gateway), nil
	}
	reactor := filepath.Join(o.root, "engine", "reactor")
	text, err := os.ReadFile(filepath.Join(reactor, "relay_other.go"))
	if err != nil {
		return "", err
	}
	other := filepath.Join(dir, "relay.go")
	text = []byte(strings.Replace(string(text), "//go:build !linux\n", "", 1))
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(reactor, "relay_linux.go"): other}})
	if err != nil {
		return "", err
	}
	list, program := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "corelane")
	if err := errors.Join(os.WriteFile(other, text, 0o600), os.WriteFile(list, overlay, 0o600)); err != nil {
		return "", err
	}
	return program, process.Build(ctx, program, "github.com/corelane/corelane/cmd/corelane", "-overlay", list)
}
