-- Whether admission pauses until the ledger has been reconciled (1 or 0).

return { paused() and '1' or '0' }
