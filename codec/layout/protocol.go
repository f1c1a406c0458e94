package layout

import (
	"errors"

	"github.com/corelane/corelane/codec"
)

// Protocol is a layout as a protocol. It is immutable; all loops use it.
type Protocol struct {
	name   string
	layout Layout
	// template is the header that the gateway's own begin as: magic, constants,
	// zeros.
	template []byte
	body     []part
	constant []byte         // the key of KeyConstant
	kinds    [2][]kindValue // by codec.Role
	maxFrame int            // what both the description and the length field allow
	traits   codec.Traits
}

var _ codec.Protocol = (*Protocol)(nil)

// class is what a frame is.
type class uint8

const (
	unknown class = iota
	message
	oneWay
	heartbeat
	heartbeatReply
)

// kindValue is a value of the kind field and what it means.
type kindValue struct {
	value uint64
	class class
}

// New makes a protocol of a description. name is what logs call it. The error
// tells all that Problems finds. l must not be changed afterwards.
func New(name string, l Layout) (*Protocol, error) {
	var err error
	for _, p := range l.Problems() {
		err = errors.Join(err, p)
	}
	if err != nil {
		return nil, err
	}
	p := &Protocol{name: name, layout: l, template: make([]byte, l.Length.Header)}
	copy(p.template, l.Magic)
	for _, c := range l.Constants {
		copy(p.template[c.At:], c.Bytes)
	}
	p.maxFrame = int(min(uint64(l.Length.Max), l.Length.longest()))
	if l.Failure != nil {
		p.body, _ = parseTemplate(l.Failure.Body)
	}
	if l.Key != nil {
		p.constant = []byte(l.Key.Constant)
	}
	if l.ID != nil {
		p.traits.IDBits = 8 * l.ID.Width
	}
	if k := l.Kind; k != nil {
		p.traits.Heartbeats = len(k.Heartbeat) > 0 && k.HeartbeatReply != nil
		p.kinds[codec.Requests] = k.values(codec.Requests, nil)
		p.kinds[codec.Responses] = k.values(codec.Responses, l.Failure)
	}
	return p, nil
}

// values lists what may come from one side. The first that matches counts.
func (k *Kind) values(r codec.Role, f *Failure) []kindValue {
	var all []kindValue
	add := func(c class, values ...uint64) {
		for _, v := range values {
			all = append(all, kindValue{v, c})
		}
	}
	if r == codec.Responses {
		add(message, k.Response...)
		if f != nil && f.Kind != nil {
			add(message, *f.Kind)
		}
		if k.HeartbeatReply != nil {
			add(heartbeatReply, *k.HeartbeatReply)
		}
		add(heartbeat, k.Heartbeat...)
		return all
	}
	add(message, k.Request...)
	add(oneWay, k.OneWay...)
	add(heartbeat, k.Heartbeat...)
	if k.HeartbeatReply != nil {
		add(heartbeatReply, *k.HeartbeatReply)
	}
	return all
}

// Name returns the name that New was given.
func (p *Protocol) Name() string { return p.name }

// Traits implements codec.Protocol.
func (p *Protocol) Traits() codec.Traits { return p.traits }

// NewDecoder implements codec.Protocol. The route key is bounded by l.Head and
// by 4 KiB.
func (p *Protocol) NewDecoder(r codec.Role, l codec.MessageLimits) codec.Decoder {
	d := &decoder{p: p, role: r, maxFrame: p.layout.Length.Max, maxKey: maxKey}
	if l.Body > 0 {
		d.maxFrame = min(d.maxFrame, p.layout.Length.Header+l.Body)
	}
	if l.Head > 0 {
		d.maxKey = min(d.maxKey, l.Head)
	}
	return d
}

// longest is the longest frame that the length field can say.
func (l *Length) longest() uint64 {
	most := min(l.most(), MaxFrame)
	switch l.Counts {
	case CountsBody:
		return most + uint64(l.Header)
	case CountsRest:
		return most + uint64(l.end())
	}
	return most
}

// total is the size of the frame whose length field holds v; at least MaxFrame
// if it is larger than that.
func (l *Length) total(v uint64) int {
	n := int(min(v, MaxFrame))
	switch l.Counts {
	case CountsBody:
		return n + l.Header
	case CountsRest:
		return n + l.end()
	}
	return n
}

// value is what the length field of a frame says whose size is total, at least
// the header's.
func (l *Length) value(total int) uint64 {
	switch l.Counts {
	case CountsBody:
		return uint64(total - l.Header)
	case CountsRest:
		return uint64(total - l.end())
	}
	return uint64(total)
}
