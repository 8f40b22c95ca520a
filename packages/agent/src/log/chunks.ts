// Cuts the log into chunks and sends them, at most three at a time. Each chunk has its offset, so they may arrive in any
// order. When too many bytes wait, `isFull` makes the writer wait too, so memory stays bounded.

import { promisify } from 'node:util'
import { gzip, gzipSync } from 'node:zlib'
import type { Clock } from '../clock.ts'

export interface Chunk {
  sequence: number
  offset: number
  bytes: Buffer
}

interface ChunkOptions {
  maxBytes: number
  intervalSeconds: number
  clock: Clock
  /** Whether `close` returns a small rest instead of sending it. */
  keepsLast: boolean
  /** Retries internally. If it rejects, the chunk is lost. */
  deliver: (chunk: Chunk, gzipped: Buffer) => Promise<void>
  /** Called when the queue is no longer full. */
  drained: () => void
}

export interface ChunksEnd {
  lost: number
  bytes: number
  /** The rest that was not sent. */
  last: { chunk: Chunk; gzipped: Buffer } | null
}

interface Chunks {
  write(bytes: Buffer): void
  isFull(): boolean
  /** Sends the rest and waits for all responses. */
  close(): Promise<ChunksEnd>
}

const SENDERS = 3
const MAX_LAST_BYTES = 64 * 1024
const MAX_WAITING_BYTES = 4 * 1024 * 1024
/** Sends the first chunks immediately, then one per interval. */
const BURST = 5
/**
 * Gathers lines, because every chunk is a request: briefly at first, so that a reader sees the job start, then longer. A job
 * that ends earlier sends a single chunk.
 */
const FIRST_GATHER_MS = 30
const GATHER_MS = 100

/** Logs compress well at any level, so use the cheapest. */
const QUICKLY = { level: 1 }
const compressLater = promisify(gzip)
/** A thread costs more than it saves for fewer bytes. */
const LEAST_THREAD_BYTES = 16 * 1024

async function compress(bytes: Buffer): Promise<Buffer> {
  if (bytes.length < LEAST_THREAD_BYTES) return gzipSync(bytes, QUICKLY)
  // A buffer for the whole result, because every further one is a wake-up of this thread.
  return await compressLater(bytes, { ...QUICKLY, chunkSize: Math.ceil(bytes.length / 2) })
}

export function sendChunks({
  maxBytes,
  intervalSeconds,
  clock,
  keepsLast,
  deliver,
  drained,
}: ChunkOptions): Chunks {
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
    const bytes = take(maxBytes)
    waitingBytes -= bytes.length
    sequence += 1
    const chunk = { sequence, offset, bytes }
    offset += bytes.length
    return chunk
  }

  /** Copies only the bytes that it takes. */
  function take(most: number): Buffer {
    let count = 0
    let size = 0
    while (size < most && count < waiting.length) {
      size += waiting[count]?.length ?? 0
      count += 1
    }
    const taken = Buffer.concat(waiting.slice(0, count), Math.min(size, most))
    const last = waiting[count - 1]
    waiting = waiting.slice(count)
    if (size > most && last !== undefined) waiting.unshift(last.subarray(last.length - (size - most)))
    return taken
  }

  async function sendOne(chunk: Chunk): Promise<void> {
    sending += 1
    try {
      await deliver(chunk, await compress(chunk.bytes))
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
      const isSmall = waitingBytes > 0 && waitingBytes <= Math.min(maxBytes, MAX_LAST_BYTES)
      const chunk = keepsLast && isSmall ? cut() : null
      await new Promise<void>((resolve) => {
        whenSent = resolve
        wakeNow()
      })
      return { lost, bytes: offset, last: chunk && { chunk, gzipped: await compress(chunk.bytes) } }
    },
  }
}
