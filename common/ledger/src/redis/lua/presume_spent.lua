-- Counts a lease as spent at its worst case. Arguments: lease, for how long to keep it (ms).

presume(ARGV[4], ARGV[5])
tell_changes()
return {}
