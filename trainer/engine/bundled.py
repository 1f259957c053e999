"""Where the bundled model is; importing this loads neither torch nor transformers."""

from __future__ import annotations

from pathlib import Path

BUNDLED = Path(__file__).parent.parent / "bundled"
