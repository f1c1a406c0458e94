// Package silent registers no filter.
package silent
