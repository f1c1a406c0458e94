// Command corelane is the gateway with its built-in filters. Package cmd tells
// what it does; `corelane build` makes the same program with more filters and protocols.
package main

import "github.com/corelane/corelane/cmd"

// version is set by the linker.
var version = "devel"

func main() { cmd.Main(version) }
