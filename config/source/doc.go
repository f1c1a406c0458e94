// Package source holds the places that configuration comes from. The only one
// so far is the file system: one file, or a folder of *.yaml, watched.
//
// Others (a key-value store, a control plane) are types that implement
// config.Source; nothing else in the program changes.
package source
