"""Fast paths: what the plain path computes, in less time or memory. Each file can be removed on its own."""
