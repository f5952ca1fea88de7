-- Counts a lease as spent at its worst case. Arguments: lease, its retention (ms).

presume(ARGV[4], ARGV[5])
notify_changes()
return {}
