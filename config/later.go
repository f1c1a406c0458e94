package config

import "reflect"

// later lists the keys that belong to other versions of the product, with the
// text of their defaults. Absent, empty or default they are accepted, so that a
// document may name them; anything else is refused rather than ignored.
var later = map[reflect.Type]map[string]string{
	reflect.TypeFor[Document](): {"consumers": "[]", "identity": "{user: []}"},
	reflect.TypeFor[Listener](): {"tls": "null"},
	reflect.TypeFor[Origin](): {
		"etcd": "null", "nacos": "null", "consul": "null", "redis": "null", "sql": "null", "control": "null",
	},
	reflect.TypeFor[Service](): {
		"tls": "null", "discovery": "null",
	},
	reflect.TypeFor[Route](): {"targets": "[]", "select": "null", "canary": "[]", "blue_green": "null"},
}

func laterKey(t reflect.Type, key string) (string, bool) {
	text, ok := later[t][key]
	return text, ok
}
