import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../clock.ts'
import { sendChunks } from './chunks.ts'
import type { Chunk } from './chunks.ts'

function collect(deliver: (chunk: Chunk) => Promise<void>, maxBytes = 1000) {
  const received: Array<{ chunk: Chunk; text: Buffer }> = []
  let drains = 0
  const chunks = sendChunks({
    maxBytes,
    intervalSeconds: 0.01,
    clock: systemClock,
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
    expect(await chunks.close()).toEqual({ lost: 0, bytes: text.length })
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
