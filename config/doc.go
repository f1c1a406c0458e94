// Package config turns documents written by people into generations that the
// engine serves.
//
// A Document is the typed model: its field comments are the reference manual.
// Parse reads and validates text and reports everything that is wrong at once,
// each problem with file, line, column and an excerpt. A Compiler makes a
// snapshot of a document, sharing with the generation before it all that has
// not changed. A Pipeline does this for a source, again and again: it fetches,
// refuses what is broken, empty or suspiciously smaller, keeps the last good
// document on disk and publishes the rest.
//
// Everything here runs beside the loops and may block. The engine never imports
// this package: it sees snapshots only.
package config

// Limits of configuration.
const (
	// MaxRoutes bounds the routes of one document.
	MaxRoutes = 1_000_000
	// maxEndpoints bounds the endpoints of one service, as the pool does.
	maxEndpoints = 1 << 16
	// maxProblems bounds the problems that one report prints.
	maxProblems = 100
	// maxFiles bounds the files of one directory.
	maxFiles = 10_000
	// maxExcerptLine bounds an excerpt's line in runes.
	maxExcerptLine = 160
)
