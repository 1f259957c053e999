"""names: learns which process has locked a file that all may read."""
import fcntl, struct

with open(T['code']) as file:
    reply = fcntl.fcntl(file, fcntl.F_GETLK, struct.pack('hhqqi4x', fcntl.F_WRLCK, 0, 0, 0, 0))
assert struct.unpack('hhqqi4x', reply)[4] > 0
