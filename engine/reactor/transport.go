package reactor

// Transport moves the bytes of a Conn. Each loop calls it for its own connections only. Read and write
// calls return ErrWouldBlock when the socket is exhausted and nothing was moved; Read returns 0, nil at
// the end of the peer's data. A Transport that keeps bytes back (TLS) is read until ErrWouldBlock.
type Transport interface {
	Read(c *Conn, p []byte) (int, error)
	Write(c *Conn, p []byte) (int, error)
	Writev(c *Conn, pieces [][]byte) (int, error)
}

// Plain is the Transport of a bare socket, what every Conn begins with.
var Plain Transport = plainSocket{}

type plainSocket struct{}

// Read implements Transport.
func (plainSocket) Read(c *Conn, p []byte) (int, error) { return sysRead(c.fd, p) }

// Write implements Transport.
func (plainSocket) Write(c *Conn, p []byte) (int, error) { return sysWrite(c.fd, p) }

// Writev implements Transport.
func (plainSocket) Writev(c *Conn, pieces [][]byte) (int, error) {
	return sysWritev(c.fd, pieces, &c.loop.vector)
}
