"""time: matches a pattern in exponential time."""

import re
re.match('(a+)+$', 'a' * 60 + 'b')
