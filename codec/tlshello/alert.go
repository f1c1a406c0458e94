package tlshello

// UnrecognizedName is the fatal alert for a client whose server name nobody serves
// (RFC 6066 §3, RFC 8446 §6.2), in the record version that every client reads.
var UnrecognizedName = []byte{21, 3, 1, 0, 2, 2, 112}
