"""write: protects itself from the end for lack of memory."""

open('/proc/self/oom_score_adj', 'w').write('-1000')
