"""read: reads addresses of the kernel."""

open('/proc/kallsyms').read(99)
