"""network: opens the tunnel device."""

open('/dev/net/tun', 'r+b', 0)
