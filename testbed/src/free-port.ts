// A port for a program that must know its port in advance, or listens on it again after a restart. It is below the range that
// systems use for outgoing connections, so none of these takes it meanwhile.
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Browsers and `fetch` refuse a few ports below it. */
const first = 11_000
const count = 20_000

/** Processes begin at different places and go on from there, so that two of them hardly ever choose the same. */
let next = (process.pid * 61) % count

export async function freePort(): Promise<number> {
  for (;;) {
    const port = first + next
    next = (next + 1) % count
    if (await isFree(port)) return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen(port, '127.0.0.1')
  try {
    await once(probe, 'listening')
  } catch {
    return false
  }
  probe.close()
  await once(probe, 'close')
  return true
}
