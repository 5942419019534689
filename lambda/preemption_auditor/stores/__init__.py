"""Where a deployed auditor keeps events, state and findings."""

from __future__ import annotations

from preemption_auditor.stores.base import Head, LeaseLostError, Store, StoredEvent
from preemption_auditor.stores.memory import MemoryStore

__all__ = ["Head", "LeaseLostError", "MemoryStore", "Store", "StoredEvent"]
