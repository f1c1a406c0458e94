package style_test

// exceptions are the files of hot packages that may use what the others may
// not. The reason stands in the file's head (`// style: <what> allowed: …`);
// the line here is the review. Use the want… constants of hot_test.go.
var exceptions = map[string][]string{
	"codec/protocols.go":      {wantMutex},
	"engine/collect.go":       {wantMutex, wantNow},
	"engine/server.go":        {wantMutex, wantGo, wantChannel},
	"engine/reactor/clock.go": {wantNow},
	"filters/registry.go":     {wantMutex},
	"pool/registry.go":        {wantMutex},
}
