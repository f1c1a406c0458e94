package layout

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
)

// Frames of the layouts of script_test.go, written out by hand.
const (
	request     = "dabb c2 00 0000000000000007 0000000b 0006 6f7264657273 010203"
	oneWayFrame = "dabb 82 00 0000000000000008 00000003 0001 61"
	ping        = "dabb e2 00 0000000000000009 00000001 4e"
	pong        = "dabb 20 00 0000000000000009 00000000"
	response    = "dabb 00 14 0000000000000007 00000002 9192"
	failed      = "dabb 01 46 0000000000000007 00000001 78"
	thriftCall  = "0000000f 80010001 00000003 616464 00000001"
	thriftReply = "00000004 80010002"
	oddFrame    = "58 120000 0a00 0000 6162000000000000 ffff"
)

func TestFramesBecomeEvents(t *testing.T) {
	tests := []struct {
		name   string
		layout Layout
		role   codec.Role
		frames string
		want   string
	}{
		{
			"requests, one of them one-way", withIDs(), codec.Requests, request + oneWayFrame,
			"begin 7\nhead \"orders\" /orders raw dabbc2000000000000000007" + "0000000b length 11\n" +
				"data 7 00066f7264657273010203\nend 7\n" +
				"begin 8 one-way\nhead \"a\" /a raw dabb8200000000000000000800000003 length 3\ndata 8 000161\nend 8\n",
		},
		{"heartbeats both ways", withIDs(), codec.Requests, ping + pong + ping, "heartbeat 9\nheartbeat reply 9\nheartbeat 9\n"},
		{
			"responses, a failed one too", withIDs(), codec.Responses, pong + response + failed,
			"heartbeat reply 9\nbegin 7\nhead 200 raw dabb0014000000000000000700000002 length 2\ndata 7 9192\nend 7\n" +
				"begin 7\nhead 200 raw dabb0146000000000000000700000001 length 1\ndata 7 78\nend 7\n",
		},
		{
			"no ids, kind behind the length", withoutIDs(), codec.Requests, thriftCall,
			"begin 0\nhead \"add\" /add raw 0000000f80010001 length 11\ndata 0 0000000361646400000001\nend 0\n",
		},
		{
			"no body", withoutIDs(), codec.Responses, thriftReply,
			"begin 0\nhead 200 raw 0000000480010002 length 0\nend 0\n",
		},
		{
			"the least", least(), codec.Requests, "00 02 4142",
			"begin 0\nhead \"legacy\" /legacy raw 00 length 0\nend 0\n" +
				"begin 0\nhead \"legacy\" /legacy raw 02 length 2\ndata 0 4142\nend 0\n",
		},
		{
			"a key of fixed bytes", odd(KeyBytes, 8), codec.Requests, oddFrame,
			"begin 10\nhead \"ab\" /ab raw 581200000a0000006162000000000000 length 2\ndata 10 ffff\nend 10\n",
		},
		{
			"an integer key", odd(KeyInteger, 2), codec.Requests, oddFrame,
			"begin 10\nhead \"25185\" /25185 raw 581200000a0000006162000000000000 length 2\ndata 10 ffff\nend 10\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, in := mustNew(t, tt.layout), unhex(t, tt.frames)
			got, err := read(t, p, tt.role, false, in)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
			for cut := range in {
				got, err := read(t, p, tt.role, false, in[:cut], in[cut:])
				require.NoError(t, err)
				require.Equal(t, tt.want, got, "split at %d", cut)
			}
			var single [][]byte
			for i := range in {
				single = append(single, in[i:i+1])
			}
			got, err = read(t, p, tt.role, false, single...)
			require.NoError(t, err)
			require.Equal(t, tt.want, got, "byte by byte")
		})
	}
}

func TestAMessageWithoutAHeadIsStillReported(t *testing.T) {
	got, err := read(t, mustNew(t, withIDs()), codec.Requests, true, unhex(t, request))
	require.NoError(t, err)
	require.Equal(t, "begin 7\ndata 7 00066f7264657273010203\nend 7\n", got)
}

func TestABodyIsOnePieceWhateverIsPresentedAgain(t *testing.T) {
	// Whoever paused behind the head may present what was not taken in smaller
	// pieces than before.
	in := unhex(t, request)
	d := mustNew(t, withIDs()).NewDecoder(codec.Requests, limits)
	var e codec.Event
	n, err := d.Next(in, &e)
	require.NoError(t, err)
	require.Equal(t, codec.MessageBegin, e.Kind)
	require.Zero(t, n)
	n, err = d.Next(in[:5], &e)
	require.NoError(t, err)
	require.Equal(t, codec.NeedMore, e.Kind)
	require.Equal(t, 5, n)
	n, err = d.Next(in[5:], &e)
	require.NoError(t, err)
	require.Equal(t, codec.MessageData, e.Kind)
	require.Equal(t, len(in)-5, n)
	require.Equal(t, in[16:], e.Data)
}

func TestFaults(t *testing.T) {
	long := withIDs()
	long.Length.Width, long.Length.At = 8, 8
	long.ID = &Integer{At: 4, Width: 4}
	tests := []struct {
		name   string
		layout Layout
		frame  string
		reason codec.Reason
		detail string
	}{
		{"another protocol", withIDs(), "47455420", codec.BadRequest, "magic"},
		{"the second byte of the magic", withIDs(), "dabc", codec.BadRequest, "magic"},
		{"a frame shorter than its header", odd(KeyBytes, 8), "58 0f0000 0a00 0000 0000000000000000", codec.BadFraming, "less than its header"},
		{"an empty frame", odd(KeyBytes, 8), "58 000000 0a00 0000 0000000000000000", codec.BadFraming, "less than its header"},
		{"a rest that ends inside the header", withoutIDs(), "00000003 80010001", codec.BadFraming, "less than its header"},
		{"a frame over its limit", withIDs(), "dabb c2 00 0000000000000007 00100000", codec.BodyTooLarge, "over its limit"},
		{"a length that is negative", withIDs(), "dabb c2 00 0000000000000007 ffffffff", codec.BodyTooLarge, "over its limit"},
		{"a negative length of 8 bytes", long, "dabb c200 00000007 ffffffffffffffff", codec.BodyTooLarge, "over its limit"},
		{"an unknown kind", withIDs(), "dabb 40 00 0000000000000007 00000000", codec.BadRequest, "kind"},
		{"a response from a client", withIDs(), response, codec.BadRequest, "kind"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, in := mustNew(t, tt.layout), unhex(t, tt.frame)
			for cut := range in {
				_, err := read(t, p, codec.Requests, false, in[:cut], in[cut:])
				var fault *codec.Error
				require.ErrorAs(t, err, &fault)
				require.Equal(t, tt.reason, fault.Reason)
				require.Contains(t, fault.Detail, tt.detail)
			}
		})
	}
}

func TestFaultsOfAServiceAreBadResponses(t *testing.T) {
	for _, frame := range []string{"00", request, "dabb 00 14 0000000000000007 7fffffff"} {
		_, err := read(t, mustNew(t, withIDs()), codec.Responses, false, unhex(t, frame))
		var fault *codec.Error
		require.ErrorAs(t, err, &fault)
		require.Equal(t, codec.UpstreamBadResponse, fault.Reason)
	}
}

func TestAKeyThatReachesBeyondItsFrameRefusesTheMessageAlone(t *testing.T) {
	tests := []struct {
		name   string
		layout Layout
		frame  string
	}{
		{"without its length", withIDs(), "dabb c0 00 0000000000000007 00000001 00"},
		{"longer than its frame", withIDs(), "dabb c0 00 0000000000000007 00000003 0002 61"},
		{"negative", withoutIDs(), "0000000a 80010001 ffffffff 6162"},
		{"no body at all", withIDs(), "dabb c0 00 0000000000000007 00000000"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := unhex(t, tt.frame)
			in = append(in, in...)
			for cut := range in {
				got, err := read(t, mustNew(t, tt.layout), codec.Requests, false, in[:cut], in[cut:])
				require.NoError(t, err)
				require.Equal(t, 2, strings.Count(got, "refused bad_request: the route key reaches beyond its frame, raw "), got)
				require.Equal(t, 2, strings.Count(got, "end "), got)
			}
		})
	}
}

func TestALongKeyIsRefused(t *testing.T) {
	l := withIDs()
	for _, tt := range []struct {
		head, size int
		ok         bool
	}{{0, maxKey, true}, {0, maxKey + 1, false}, {100, 100, true}, {100, 101, false}} {
		body := append([]byte{byte(tt.size >> 8), byte(tt.size)}, bytes.Repeat([]byte("k"), tt.size)...)
		in := unhex(t, "dabb c0 00 0000000000000007 00000000")
		l.Length.write(in, uint64(len(body)))
		d := mustNew(t, l).NewDecoder(codec.Requests, codec.MessageLimits{Head: tt.head, Body: 1 << 20})
		var e codec.Event
		var h codec.Head
		h.Reset()
		_, err := d.Next(append(in, body...), &e)
		require.NoError(t, err)
		e.Head = &h
		_, err = d.Next(append(in, body...), &e)
		require.NoError(t, err)
		require.Equal(t, tt.ok, e.Refused == nil, "%+v: %v", tt, e.Refused)
	}
}

func TestTheBodyLimitOfTheReceiverCounts(t *testing.T) {
	p, in := mustNew(t, withIDs()), unhex(t, request)
	var e codec.Event
	_, err := p.NewDecoder(codec.Requests, codec.MessageLimits{Body: 11}).Next(in, &e)
	require.NoError(t, err)
	_, err = p.NewDecoder(codec.Requests, codec.MessageLimits{Body: 10}).Next(in, &e)
	require.ErrorContains(t, err, "over its limit")
}

func TestTruncatedFramesReportNothingButNeed(t *testing.T) {
	in := unhex(t, request)
	for cut := range in {
		got, err := read(t, mustNew(t, withIDs()), codec.Requests, false, in[:cut])
		require.NoError(t, err)
		require.Empty(t, got)
	}
}

func TestMemoryFollowsTheBytesAndNotTheLength(t *testing.T) {
	l := withIDs()
	l.Length.Max = MaxFrame
	d := mustNew(t, l).NewDecoder(codec.Requests, codec.MessageLimits{Body: MaxFrame}).(*decoder)
	var e codec.Event
	_, err := d.Next(unhex(t, "dabb c2 00 0000000000000007 3fff0000 00"), &e)
	require.NoError(t, err)
	require.Equal(t, codec.NeedMore, e.Kind)
	require.Less(t, cap(d.held), 1024)
}

func TestALargeBufferIsGivenBack(t *testing.T) {
	in := unhex(t, "dabb c0 00 0000000000000007 00018000")
	in = append(in, make([]byte, 0x18000)...)
	d := mustNew(t, withIDs()).NewDecoder(codec.Requests, limits).(*decoder)
	var e codec.Event
	_, err := d.Next(in[:1000], &e)
	require.NoError(t, err)
	in = in[1000:]
	for e.Kind != codec.MessageEnd {
		n, err := d.Next(in, &e)
		require.NoError(t, err)
		in = in[n:]
	}
	require.Nil(t, d.held)

	// A small one stays.
	_, err = d.Next(unhex(t, "dabb"), &e)
	require.NoError(t, err)
	before := cap(d.held)
	d.release()
	require.Equal(t, before, cap(d.held))
}

func TestHeartbeatsWithOneValueAreToldApartByTheirSender(t *testing.T) {
	l := withIDs()
	l.Kind.HeartbeatReply = &l.Kind.Heartbeat[0]
	p := mustNew(t, l)
	got, err := read(t, p, codec.Requests, false, unhex(t, ping))
	require.NoError(t, err)
	assert.Equal(t, "heartbeat 9\n", got)
	got, err = read(t, p, codec.Responses, false, unhex(t, ping))
	require.NoError(t, err)
	assert.Equal(t, "heartbeat reply 9\n", got)
}

func TestALayoutWithoutAKeyHasEmptyOnes(t *testing.T) {
	l := withIDs()
	l.Key = nil
	got, err := read(t, mustNew(t, l), codec.Requests, false, unhex(t, request))
	require.NoError(t, err)
	require.Contains(t, got, "head \"\" / raw")
}
