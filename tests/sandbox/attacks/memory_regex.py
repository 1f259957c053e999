"""memory: compiles a huge pattern."""

import re
re.compile('(' * 10**6 + ')' * 10**6)
