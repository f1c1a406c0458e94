package config

import (
	"crypto/sha256"
	"os"
	"time"
)

// Document is a whole configuration. Services, routes and filter sets may be
// spread over several files; every other section stands in one of them.
type Document struct {
	// Node says who this process is.
	Node Node `yaml:"node"`
	// Engine holds the settings of the loops. Changes need a restart.
	Engine Engine `yaml:"engine"`
	// Listeners are the addresses that clients connect to. Adding, removing or
	// moving one needs a restart; its policies change at run time.
	Listeners []*Listener `yaml:"listeners"`
	// Admin is the server for operators: /healthz /readyz /metrics /debug/pprof
	// /api/v1/…
	Admin Admin `yaml:"admin"`
	// Log says what is logged and where.
	Log Log `yaml:"log"`
	// Config says where the configuration itself comes from.
	Config Origin `yaml:"config"`
	// Services are named sets of endpoints that do the same job.
	Services []*Service `yaml:"services"`
	// FilterSets are named lists of filters for the key `use` of routes.
	FilterSets map[string]*FilterSet `yaml:"filter_sets"`
	// Routes say which requests go where. A path without a route is answered
	// 404 route_not_found.
	Routes []*Route `yaml:"routes"`

	checksum string
	warnings []string
	files    []File
	// sums are the SHA-256 of the files' texts.
	sums [][sha256.Size]byte
	// superseded tells that a route was left out for a newer one of its id.
	superseded bool
	// references tells that values were taken from outside the document.
	references bool
	// places is what routePlaces has made, under the pipeline's lock.
	places map[string]int
}

// Checksum returns the SHA-256 of the sources as they were written, in
// hexadecimal.
func (d *Document) Checksum() string { return d.checksum }

// Warnings returns what was accepted but deserves a look.
func (d *Document) Warnings() []string { return d.warnings }

// Node says who this process is.
type Node struct {
	// ID is the node's name in logs and metrics; the default is the host name.
	ID string `yaml:"id"`
	// Coordinates say where the node stands: cluster, region, env, version.
	Coordinates map[string]string `yaml:"coordinates"`
}

// Name returns the node's id, or the host name.
func (n *Node) Name() string {
	if n.ID != "" {
		return n.ID
	}
	name, err := os.Hostname()
	if err != nil {
		return "corelane"
	}
	return name
}

// Admin is the server for operators.
type Admin struct {
	// Address is where the admin server listens.
	Address string `yaml:"address" default:"127.0.0.1:9900"`
	// Token is what callers show as `Authorization: Bearer …`. It is needed for
	// calls that change state and for any address that is not loopback.
	Token string `yaml:"token"`
}

// Log says what is logged and where.
type Log struct {
	// Access is the log of requests.
	Access AccessLog `yaml:"access"`
	// Level is the least severity of the program's own log.
	Level string `yaml:"level" default:"info" enum:"debug|info|warn|error"`
}

// AccessLog is the log of requests, one JSON object a line.
type AccessLog struct {
	// Path is stdout, none, or a file that is appended to.
	Path string `yaml:"path" default:"stdout"`
	// Sample is the share of requests that is logged, from 0 to 1.
	Sample float64 `yaml:"sample" default:"1.0" min:"0" max:"1"`
}

// Origin says where the configuration comes from.
type Origin struct {
	// Source is the kind of source.
	Source string `yaml:"source" default:"file" enum:"file" later:"etcd|nacos|consul|redis|sql|control"`
	// File is the source `file`.
	File FileOrigin `yaml:"file"`
	// Probe is the time between two looks at the version of a source that also
	// pushes; a file is watched and needs none.
	Probe time.Duration `yaml:"probe" default:"30s"`
	// Cache is the folder that keeps the last good documents.
	Cache string `yaml:"cache" default:"var/corelane"`
	// ShrinkGuard is the percentage of routes that one change may drop; 0 turns
	// the guard off.
	ShrinkGuard Percent `yaml:"shrink_guard" default:"50"`
}

// FileOrigin is configuration in files.
type FileOrigin struct {
	// Path is a file or a folder of *.yaml, watched; the default is what the
	// program was started with.
	Path string `yaml:"path"`
}
