"""disk: leaves an image of its memory."""
import resource
resource.setrlimit(resource.RLIMIT_CORE, (1 << 30, 1 << 30))
