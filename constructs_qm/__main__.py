"""``python -m constructs_qm``: the ``batch-quota`` command."""

from constructs_qm.cli import main

main()
