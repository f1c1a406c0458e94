package config

import "time"

// Engine holds the settings of the loops. Changes need a restart.
type Engine struct {
	// Loops is the number of event loops: auto (the smaller of the CPUs allowed
	// and the control group's quota) or a number.
	Loops Loops `yaml:"loops" default:"auto"`
	// Pin says which CPUs the loops are bound to: auto, none, or a CPU list such
	// as "0,2,4-7", one for each loop in order.
	Pin Pin `yaml:"pin" default:"auto"`
	// Poller is how loops wait for events: epoll (Linux) or gnet (macOS, BSD,
	// also Linux).
	Poller string `yaml:"poller" default:"epoll" enum:"epoll|gnet"`
	// Accept says which loop gets a connection: handoff (a loop with few), hash
	// (the kernel decides), cpu (the loop of the CPU that received it).
	Accept string `yaml:"accept" default:"handoff" enum:"handoff|hash|cpu"`
	// BusyPoll is how long a loop looks for events before it sleeps, which takes
	// its CPU whole; 0 is off. With the poller epoll only.
	BusyPoll time.Duration `yaml:"busy_poll" default:"0s" max:"1s"`
	// MaxConnections bounds the clients of the process; over it connections are
	// accepted, closed and counted. 0 is no limit.
	MaxConnections int `yaml:"max_connections" default:"100000" min:"0"`
	// Buffers bound what is held for slow peers.
	Buffers Buffers `yaml:"buffers"`
	// SpillDir is the folder for request bodies that outgrow `body.memory`; the
	// default is the system's temporary folder. It should not be in memory.
	SpillDir string `yaml:"spill_dir"`
	// FilterBudget is the time after which one call of a filter is logged by
	// name; 0 is off.
	FilterBudget time.Duration `yaml:"filter_budget" default:"1ms"`
	// DrainTimeout is how long a stopping process waits for running exchanges.
	DrainTimeout time.Duration `yaml:"drain_timeout" default:"30s"`
}

// Buffers bound what is held for slow peers.
type Buffers struct {
	// High is the queue of one side over which the other side is not read.
	High Size `yaml:"high" default:"256KiB" min:"1KiB" max:"1GiB"`
	// Low is the queue under which reading goes on; less than high.
	Low Size `yaml:"low" default:"64KiB" min:"0" max:"1GiB"`
	// Total bounds all buffers of the process: a share of the memory or a size;
	// 0 is no limit.
	Total Share `yaml:"total" default:"50%"`
}
