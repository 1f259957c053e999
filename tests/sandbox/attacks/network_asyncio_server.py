"""network: starts a server by asyncio."""

import asyncio
async def main(): return (await asyncio.start_server(print, '127.0.0.1', 0)).sockets
assert asyncio.run(main())
