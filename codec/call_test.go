package codec

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMethodCalls(t *testing.T) {
	tests := []struct {
		iface, method string
		ok            bool
	}{
		{"com.example.Order", "find", true},
		{"com.example.Order:1.0.0", "find$1", true},
		{"", "find", false},
		{"com.example.Order", "", false},
		{"..", "find", false},
		{"com.example.Order", ".", false},
		{"com/example", "find", false},
		{"com.example.Order", "find?x", false},
		{"com.example.Order", "fi nd", false},
		{"com.example.Order", "find%2f", false},
	}
	for _, tt := range tests {
		t.Run(tt.iface+" "+tt.method, func(t *testing.T) {
			var h Head
			h.Reset()
			require.Equal(t, tt.ok, h.SetMethodCall([]byte(tt.iface), []byte(tt.method)))
			if !tt.ok {
				require.Equal(t, ByPath, h.Call())
				require.Empty(t, h.Path())
				return
			}
			require.Equal(t, ByMethod, h.Call())
			require.Equal(t, POST, h.MethodID())
			require.Equal(t, "POST", string(h.Method()))
			require.Equal(t, "/"+tt.iface+"/"+tt.method, string(h.Path()))
			require.Equal(t, tt.iface, string(h.Interface()))
			require.Equal(t, tt.method, string(h.ProcedureName()))
		})
	}
}

func TestKeyCalls(t *testing.T) {
	for key, path := range map[string]string{
		"order.find": "/order.find", "a b\n?": "/a%20b%0A%3F", "": "/", "\xff": "/%FF",
	} {
		var h Head
		h.Reset()
		h.SetKeyCall([]byte(key))
		require.Equal(t, ByKey, h.Call())
		require.Equal(t, key, string(h.Key()))
		require.Equal(t, path, string(h.Path()))
		h.Reset()
		require.Equal(t, ByPath, h.Call())
	}
}

func TestNotes(t *testing.T) {
	var h Head
	h.Reset()
	require.Zero(t, h.Note())
	h.SetNote(7)
	require.Equal(t, uint64(7), h.Note())
	h.Reset()
	require.Zero(t, h.Note())
}
