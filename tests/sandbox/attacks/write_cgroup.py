"""write: leaves its control group."""

open('/sys/fs/cgroup/cgroup.procs', 'w').write('0')
