-- True if admission is suspended until the ledger has been reconciled.
-- Arguments: whether the caller has seen the ledger in use (1 or 0).
-- Returns: whether it is suspended, and whether the ledger is in use or was when it was restarted (1 or 0
-- each).

detect_emptied(ARGV[4])
return { admission_suspended() and '1' or '0', whole(redis.call('HEXISTS', key('ledger'), 'server')) }
