// Package sketch finds the most frequent keys of a stream in bounded memory:
// Space-Saving (Metwally, Agrawal, El Abbadi: "Efficient Computation of Frequent
// and Top-k Elements in Data Streams", ICDT 2005), one sketch for each loop,
// merged when somebody asks.
//
// It is made for what strangers send. A key that is not tracked takes the place
// of the rarest one and inherits its count as the bound of its error, so random
// keys push each other out and never one that came oftener than they. Keys are
// cut to a fixed length, hashes are seeded, and a hit costs the same whatever the
// key: nothing is allocated and nothing grows.
package sketch
