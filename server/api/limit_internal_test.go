package api

import (
	"net"
	"testing"
)

// Who has many addresses of a network has one bucket for all of them.
func TestNetworks(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"192.0.2.7": "192.0.2.7/32", "::ffff:192.0.2.7": "192.0.2.7/32", "2001:db8:1:2:3::4": "2001:db8:1:2::/64", "2001:db8:1:2::": "2001:db8:1:2::/64",
	} {
		if got := network(net.ParseIP(address)); got != want {
			t.Errorf("%s is of %s, not %s", address, got, want)
		}
	}
}
