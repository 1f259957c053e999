"""write: changes a setting of the kernel."""

open('/proc/sys/kernel/core_pattern', 'w')
