package explain

import "strings"

// redacted stands for a value that may be a secret.
const redacted = "(redacted)"

// secretNames are words in the names of fields and parameters that carry
// secrets: Authorization, Cookie, X-Api-Key, access_token and their like.
var secretNames = []string{"auth", "cookie", "token", "secret", "key", "pass", "sig", "session", "credential", "nonce", "jwt", "pwd", "hmac", "otp"}

// isSecret tells whether the values of a name are better not shown.
func isSecret(name string) bool {
	name = strings.ToLower(name)
	for _, word := range secretNames {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}
