package reactor

// warmBlocks is the number of blocks that a fresh loop has at hand: more are a matter of load.
const warmBlocks = 8

// Warm touches the memory that the first events need, so that none of them waits for the kernel to find a page. Call it
// before the first connection. On the loop.
func (l *Loop) Warm() {
	l.assertLoop()
	Touch(l.readBuf)
	Touch(l.gather.scratch[:cap(l.gather.scratch)])
	Touch(l.lot.buf[:cap(l.lot.buf)])
	var held [warmBlocks]*Block
	for i := range held {
		held[i] = l.GetBlock()
		Touch(held[i].Bytes())
	}
	for _, b := range held {
		l.PutBlock(b)
	}
}

// pageSize is the smallest page of the systems served.
const pageSize = 4 << 10

// Touch makes every page of memory that holds nothing yet present.
func Touch(b []byte) {
	for i := 0; i < len(b); i += pageSize {
		b[i] = 0
	}
}
