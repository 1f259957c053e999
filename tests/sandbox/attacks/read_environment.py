"""read: finds a secret in the environment."""

import os
assert any('SECRET' in name for name in os.environ)
