// Cuts the log into chunks and sends them, at most three at a time. Each chunk has its offset, so they may arrive in any
// order. When too many bytes wait, `isFull` makes the writer wait too, so memory stays bounded.

import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Clock } from '../clock.ts'

export interface Chunk {
  sequence: number
  offset: number
  bytes: Buffer
}

export interface ChunkOptions {
  maxBytes: number
  intervalSeconds: number
  clock: Clock
  /** Retries internally. If it rejects, the chunk is lost. */
  deliver: (chunk: Chunk, gzipped: Buffer) => Promise<void>
  /** Called when the queue is no longer full. */
  drained: () => void
}

export interface Chunks {
  write(bytes: Buffer): void
  isFull(): boolean
  /** Sends the rest and waits for all responses. */
  close(): Promise<{ lost: number; bytes: number }>
}

const SENDERS = 3
const MAX_WAITING_BYTES = 4 * 1024 * 1024
/** Sends the first chunks immediately, then one per interval. */
const BURST = 5
/**
 * Gathers lines, because every chunk is a request: briefly at first, so that a reader sees the job start, then longer.
 */
const FIRST_GATHER_MS = 5
const GATHER_MS = 100

const compress = promisify(gzip)
/** Logs compress well at any level, so use the cheapest. */
const QUICKLY = { level: 1 }

export function sendChunks({ maxBytes, intervalSeconds, clock, deliver, drained }: ChunkOptions): Chunks {
  let waiting: Buffer[] = []
  let waitingBytes = 0
  let sequence = 0
  let offset = 0
  let lost = 0
  let sending = 0
  let allowance = BURST
  let refilledAt = clock.now()
  let timer: NodeJS.Timeout | null = null
  let whenSent: (() => void) | null = null

  const intervalMs = Math.max(1, intervalSeconds * 1000)

  const mayCut = () => allowance >= 1 || waitingBytes >= maxBytes || whenSent !== null

  function wake(): void {
    timer = null
    const time = clock.now()
    allowance = Math.min(BURST, allowance + (time - refilledAt) / intervalMs)
    refilledAt = time
    while (waitingBytes > 0 && sending < SENDERS && mayCut()) {
      if (waitingBytes < maxBytes) allowance -= 1
      void sendOne(cut())
    }
    if (waitingBytes > 0 && sending < SENDERS) schedule((1 - allowance) * intervalMs)
    if (waitingBytes === 0 && sending === 0) whenSent?.()
  }

  function schedule(milliseconds: number): void {
    timer ??= setTimeout(wake, Math.max(sequence === 0 ? FIRST_GATHER_MS : GATHER_MS, milliseconds))
  }

  function cut(): Chunk {
    const all = waiting.length === 1 ? (waiting[0] ?? Buffer.alloc(0)) : Buffer.concat(waiting)
    const bytes = all.subarray(0, maxBytes)
    const rest = all.subarray(maxBytes)
    waiting = rest.length > 0 ? [rest] : []
    waitingBytes = rest.length
    sequence += 1
    const chunk = { sequence, offset, bytes }
    offset += bytes.length
    return chunk
  }

  async function sendOne(chunk: Chunk): Promise<void> {
    sending += 1
    try {
      await deliver(chunk, await compress(chunk.bytes, QUICKLY))
    } catch {
      lost += 1
    }
    sending -= 1
    if (waitingBytes < MAX_WAITING_BYTES) drained()
    wakeNow()
  }

  function wakeNow(): void {
    if (timer) clearTimeout(timer)
    wake()
  }

  return {
    write(bytes) {
      if (bytes.length === 0) return
      waiting.push(bytes)
      waitingBytes += bytes.length
      if (waitingBytes >= maxBytes) wakeNow()
      else if (sending < SENDERS) schedule(allowance >= 1 ? 0 : (1 - allowance) * intervalMs)
    },
    isFull: () => waitingBytes >= MAX_WAITING_BYTES,
    async close() {
      await new Promise<void>((resolve) => {
        whenSent = resolve
        wakeNow()
      })
      return { lost, bytes: offset }
    },
  }
}
