"""The real programs are large and slow to start, so they are asked on demand only.

`scripts/test --real-clients` installs them and sets MCPYARD_REAL_CLIENTS.
"""

import os

collect_ignore_glob = [] if os.environ.get("MCPYARD_REAL_CLIENTS") else ["test_*.py"]
