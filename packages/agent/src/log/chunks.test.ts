import { gunzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { systemClock } from '../clock.ts'
import { sendChunks } from './chunks.ts'
import type { Chunk } from './chunks.ts'

function collect(deliver: (chunk: Chunk) => Promise<void>, maxBytes = 1000, keepsLast = false) {
  const received: Array<{ chunk: Chunk; text: Buffer }> = []
  let drains = 0
  const chunks = sendChunks({
    maxBytes,
    intervalSeconds: 0.01,
    clock: systemClock,
    keepsLast,
    async deliver(chunk, gzipped) {
      await deliver(chunk)
      received.push({ chunk, text: gunzipSync(gzipped) })
    },
    drained: () => {
      drains += 1
    },
  })
  return { chunks, received, drains: () => drains }
}

describe('sendChunks', () => {
  it('numbers chunks from 1 without gaps, and puts the bytes where they belong', async () => {
    const { chunks, received } = collect(async () => {})
    const text = Array.from({ length: 500 }, (_, index) => `line ${index}\n`).join('')
    for (const line of text.split(/(?<=\n)/)) chunks.write(Buffer.from(line))
    expect(await chunks.close()).toEqual({ lost: 0, bytes: text.length, last: null })
    const inOrder = received.toSorted((a, b) => a.chunk.sequence - b.chunk.sequence)
    expect(inOrder.map(({ chunk }) => chunk.sequence)).toEqual(inOrder.map((_, index) => index + 1))
    expect(Buffer.concat(inOrder.map(({ text: part }) => part)).toString()).toBe(text)
    let offset = 0
    for (const { chunk, text: part } of inOrder) {
      expect(chunk.offset).toBe(offset)
      expect(part.length).toBeLessThanOrEqual(1000)
      offset += part.length
    }
  })

  it('sends one chunk for a job that ends quickly, and the first lines of a longer job soon', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const short = collect(async () => {})
    const long = collect(async () => {})
    for (const { chunks } of [short, long]) chunks.write(Buffer.from('begins\n'))
    await vi.advanceTimersByTimeAsync(25)
    for (const { chunks } of [short, long]) chunks.write(Buffer.from('ends\n'))
    await short.chunks.close()
    expect(short.received.map(({ text }) => text.toString())).toEqual(['begins\nends\n'])
    expect(long.received).toEqual([])
    await vi.advanceTimersByTimeAsync(25)
    expect(long.received.map(({ text }) => text.toString())).toEqual(['begins\nends\n'])
    await long.chunks.close()
  })

  it('cuts where the limit is, also inside of a write', async () => {
    const { chunks, received } = collect(async () => {}, 10)
    const text = Array.from({ length: 40 }, (_, index) => String(index).repeat(1 + (index % 17))).join('')
    for (let from = 0, size = 1; from < text.length; from += size, size = 1 + ((size * 7) % 33)) {
      chunks.write(Buffer.from(text.slice(from, from + size)))
    }
    await chunks.close()
    const inOrder = received.toSorted((a, b) => a.chunk.sequence - b.chunk.sequence)
    expect(Buffer.concat(inOrder.map(({ text: part }) => part)).toString()).toBe(text)
    expect(inOrder.slice(0, -1).map(({ text: part }) => part.length)).toEqual(inOrder.slice(1).map(() => 10))
  })

  it('returns a small rest instead of sending it, where that was asked for', async () => {
    const { chunks, received } = collect(async () => {}, 10, true)
    for (const text of ['0123456789', 'abc']) chunks.write(Buffer.from(text))
    const { last, lost, bytes } = await chunks.close()
    expect(received.map(({ text }) => text.toString())).toEqual(['0123456789'])
    expect(last?.chunk).toMatchObject({ sequence: 2, offset: 10 })
    expect(gunzipSync(last?.gzipped ?? '').toString()).toBe('abc')
    expect({ lost, bytes }).toEqual({ lost: 0, bytes: 13 })
  })

  it('has at most three chunks on the way', async () => {
    let active = 0
    let most = 0
    let open = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const { chunks } = collect(async () => {
      active += 1
      most = Math.max(most, active)
      // A fourth would come while these three wait.
      if (active === 3) setImmediate(open)
      await gate
      active -= 1
    })
    for (let count = 0; count < 50; count += 1) chunks.write(Buffer.alloc(900, 'x'))
    await chunks.close()
    expect(most).toBe(3)
  })

  it('counts what is lost and goes on', async () => {
    const { chunks, received } = collect(async ({ sequence }) => {
      if (sequence === 2) throw new Error('refused')
    })
    for (let count = 0; count < 5; count += 1) chunks.write(Buffer.alloc(1000, 'x'))
    expect((await chunks.close()).lost).toBe(1)
    expect(new Set(received.map(({ chunk }) => chunk.sequence))).toEqual(new Set([1, 3, 4, 5]))
  })

  it('is full while much waits, and says when it is not any more', async () => {
    let open = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const { chunks, drains } = collect(() => gate, 100_000)
    for (let count = 0; count < 60; count += 1) chunks.write(Buffer.alloc(100_000, 'x'))
    expect(chunks.isFull()).toBe(true)
    open()
    await chunks.close()
    expect(chunks.isFull()).toBe(false)
    expect(drains()).toBeGreaterThan(0)
  })
})
