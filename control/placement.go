package control

import (
	"fmt"
	"math"
	"runtime"

	"github.com/corelane/corelane/config"
	"github.com/corelane/corelane/engine/reactor"
)

// maxLoops bounds the loops of one process.
const maxLoops = 64

// placement says how many loops there are and where they run.
type placement struct {
	loops int
	// cpus has one CPU for each loop; empty: not pinned.
	cpus []int
	// exclusive tells that CPUs are left for all other threads, which are then
	// kept off the loops' CPUs.
	exclusive bool
	// procs is the value for GOMAXPROCS.
	procs int
}

// machine is what a placement depends on.
type machine struct {
	// cpus are those that the process may use; nil if the system does not tell.
	cpus []int
	// count is the number of CPUs, at least 1.
	count int
	// quota is the control group's, in CPUs; 0: none.
	quota float64
}

// thisMachine looks at the process's surroundings. Call it before any thread is
// moved.
func thisMachine() machine {
	m := machine{cpus: reactor.CPUs(), quota: reactor.QuotaCPUs()}
	if m.count = len(m.cpus); m.count == 0 {
		m.count = runtime.NumCPU()
	}
	return m
}

// place decides on loops and CPUs. Loops are as many as CPUs, or fewer if the
// control group's quota is less; each gets a CPU of its own while there are
// enough.
func place(e *config.Engine, m machine) (placement, error) {
	p := placement{loops: int(e.Loops)}
	if p.loops == 0 {
		p.loops = autoLoops(m)
	}
	if listed := e.Pin.CPUs(); listed != nil {
		if err := p.takeList(listed, e.Loops == 0, m); err != nil {
			return placement{}, err
		}
	} else if e.Pin != "none" && p.loops <= len(m.cpus) {
		p.cpus = m.cpus[:p.loops]
	}
	p.exclusive = len(p.cpus) > 0 && p.loops < m.count
	p.procs = procsFor(p.loops)
	return p, nil
}

func autoLoops(m machine) int {
	n := m.count
	if m.quota > 0 {
		n = min(n, int(math.Ceil(m.quota)))
	}
	return min(max(n, 1), maxLoops)
}

// takeList pins the loops to the listed CPUs; with `loops: auto` the list says
// how many there are.
func (p *placement) takeList(listed []int, auto bool, m machine) error {
	if auto {
		p.loops = min(len(listed), maxLoops)
	}
	if len(listed) < p.loops {
		return fmt.Errorf("engine.pin names %d CPUs for %d loops", len(listed), p.loops)
	}
	p.cpus = listed[:p.loops]
	allowed := make(map[int]bool, len(m.cpus))
	for _, cpu := range m.cpus {
		allowed[cpu] = true
	}
	for _, cpu := range p.cpus {
		if m.cpus != nil && !allowed[cpu] {
			return fmt.Errorf("engine.pin names CPU %d, which the process may not use", cpu)
		}
	}
	return nil
}

// procsFor leaves room for the loops, which never give their processor back,
// for two goroutines of the control side, and for the collector, which takes a
// quarter of all without preemption.
func procsFor(loops int) int { return int(math.Ceil(float64(loops+2) * 4 / 3)) }

// apply sets GOMAXPROCS and keeps the other threads off the loops' CPUs. Call
// it before the loops run, which then pin themselves.
func (p *placement) apply() error {
	runtime.GOMAXPROCS(p.procs)
	if !p.exclusive {
		return nil
	}
	if err := reactor.KeepOff(p.cpus); err != nil {
		return fmt.Errorf("keep other threads off the loops' CPUs: %w", err)
	}
	return nil
}
