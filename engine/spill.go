package engine

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/corelane/corelane/engine/reactor"
)

// Bounds of held bodies in files.
const (
	// maxSpilled bounds the bytes of all bodies in files, for the process.
	maxSpilled = int64(4 << 30)
	// maxCarried is the number of blocks that one job writes: 1 MiB.
	maxCarried = 64
	// maxRead is the number of blocks that one job reads back.
	maxRead = 8
	// spillWindow is the number of blocks on their way to the file over which
	// the client is not read: 512 KiB.
	spillWindow = 32
	// spillTime is how long a job may take: a disk that hangs must not keep
	// clients waiting for ever.
	spillTime = int64(30e9)
)

var (
	errSpillFull = errors.New("all files together hold as much as they may")
	errSpillLate = errors.New("the file did not answer in time")
)

// spillJob is what a spill is asked to do.
type spillJob uint8

const (
	spillWrite spillJob = iota
	spillRead
	spillClose
)

// files does what would block a loop. Its work runs on a loop of its own that
// has no connections, so that its mailbox is the door in both directions and a
// slow disk keeps nobody waiting but those who spill.
type files struct {
	// Immutable.
	loop   *reactor.Loop
	folder string
	limit  int64

	// Atomic.
	open    atomic.Int64  // files
	held    atomic.Int64  // bytes in them, and on their way
	written atomic.Uint64 // bytes ever
}

// newFiles makes the folder's keeper; an empty name is the system's.
func newFiles(folder, poller string, onPanic func(int, any, []byte)) (*files, error) {
	if folder == "" {
		folder = os.TempDir()
	}
	loop, err := reactor.NewLoop(reactor.Options{ID: -1, CPU: -1, Poller: poller, OnPanic: onPanic})
	if err != nil {
		return nil, fmt.Errorf("engine: loop of files: %w", err)
	}
	return &files{loop: loop, folder: folder, limit: maxSpilled}, nil
}

// spill is an unlinked temporary file with a body, and the one job at a time
// that is done on it. While it is busy, the job's fields and the blocks belong
// to the loop of files.
type spill struct {
	// Immutable.
	files *files
	home  *reactor.Loop
	there reactor.Task // does the job, on the loop of files
	back  reactor.Task // reports it, on the exchange's loop

	// The job's.
	file   *os.File
	job    spillJob
	blocks []*reactor.Block
	size   int   // bytes to write, or to read
	at     int64 // where in the file
	err    error

	// Owned by the exchange's loop.
	x     *Exchange // nil: given up
	busy  bool
	total int64 // bytes handed over for writing
}

func newSpill(f *files, x *Exchange) *spill {
	s := &spill{files: f, home: x.w.loop, x: x, blocks: make([]*reactor.Block, 0, maxCarried)}
	s.there.Run = func(*reactor.Loop) { s.work() }
	s.back.Run = func(*reactor.Loop) { s.done() }
	return s
}

// carried is the number of blocks that the job has.
func (s *spill) carried() int { return len(s.blocks) }

// write takes blocks over and has them appended to the file.
func (s *spill) write(blocks []*reactor.Block, size int) {
	s.blocks = append(s.blocks, blocks...)
	s.job, s.at, s.size = spillWrite, s.total, size
	s.total += int64(size)
	if s.files.held.Add(int64(size)) > s.files.limit {
		s.err = errSpillFull
	}
	s.post()
}

// read has the file's bytes from at on read into blocks.
func (s *spill) read(at int64) {
	size := int(min(s.total-at, maxRead*reactor.BlockSize))
	for n := 0; n < size; n += reactor.BlockSize {
		s.blocks = append(s.blocks, s.home.GetBlock())
	}
	s.job, s.at, s.size = spillRead, at, size
	s.post()
}

func (s *spill) post() {
	s.busy = true
	if !s.files.loop.Post(&s.there) {
		s.close() // the process ends, and nobody waits for this loop any more
	}
}

// giveUp closes the file, when its job is over.
func (s *spill) giveUp() {
	s.x = nil
	if !s.busy {
		s.job = spillClose
		s.post()
	}
}

// putBlocks gives the job's blocks back.
func (s *spill) putBlocks() {
	for i, b := range s.blocks {
		s.home.PutBlock(b)
		s.blocks[i] = nil
	}
	s.blocks = s.blocks[:0]
}

// done runs on the exchange's loop after each job.
func (s *spill) done() {
	s.busy = false
	if s.job != spillRead || s.err != nil || s.x == nil {
		s.putBlocks()
	}
	if s.x == nil {
		s.giveUp()
		return
	}
	s.x.onSpillDone()
}

// work runs on the loop of files.
func (s *spill) work() {
	switch {
	case s.job == spillClose:
		s.close()
		return
	case s.err != nil:
	case s.job == spillWrite:
		s.err = s.transfer((*os.File).WriteAt)
	case s.job == spillRead:
		s.err = s.transfer((*os.File).ReadAt)
	}
	if !s.home.Post(&s.back) {
		s.close() // the loop has ended, and with it whoever wants the body
	}
}

// transfer moves the job's bytes between its blocks and the file.
func (s *spill) transfer(move func(*os.File, []byte, int64) (int, error)) error {
	if s.file == nil {
		if err := s.create(); err != nil {
			return err
		}
	}
	at, left := s.at, s.size
	for _, b := range s.blocks {
		n := min(left, reactor.BlockSize)
		if _, err := move(s.file, b.Bytes()[:n], at); err != nil {
			return err
		}
		at += int64(n)
		left -= n
	}
	if s.job == spillWrite {
		s.files.written.Add(uint64(s.size))
	}
	return nil
}

// create makes the file and takes its name away, so that it is gone with the
// process whatever happens.
func (s *spill) create() error {
	f, err := os.CreateTemp(s.files.folder, "corelane-body-*")
	if err != nil {
		return err
	}
	if err := os.Remove(f.Name()); err != nil {
		return errors.Join(err, f.Close())
	}
	s.file = f
	s.files.open.Add(1)
	return nil
}

func (s *spill) close() {
	if s.file != nil {
		_ = s.file.Close() // nobody will read it
		s.file = nil
		s.files.open.Add(-1)
	}
	s.files.held.Add(-s.total) // last: only now the disk has room again
}

// SpillInfo is what files hold of request bodies.
type SpillInfo struct {
	// Files and Bytes are held now, Written were written since the start.
	Files, Bytes int64
	Written      uint64
}

// Spilled returns what files hold of request bodies.
func (s *Server) Spilled() SpillInfo {
	f := s.files
	return SpillInfo{Files: f.open.Load(), Bytes: f.held.Load(), Written: f.written.Load()}
}
