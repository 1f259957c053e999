"""disk: leaves folders without permissions and names that are no text."""
import os
os.umask(0o777)
for number in range(300):
    os.mkdir(b'\xff\xfe' + bytes([1 + number % 31, 10]) + str(number).encode(), 0)
os.umask(0)
os.mkdir('closed', 0o700)
os.mkdir('closed/inner', 0)
os.rename('closed/inner', 'inner')
raise OSError('nothing is promised about names')
