import { describe, expect, it } from 'vitest'
import { readEvents } from '../../api/event-source.ts'
import { resumeRow, waitMs } from './stream.ts'

describe('readEvents', () => {
  it('reads events however the bytes are cut', async () => {
    const text =
      'retry: 1000\n\n: alive\n\nevent: rows\nid: 3\ndata: {"from":1,"rows":[[null,"é\\u0000: x"]]}\n\nevent: end\ndata: {}\n\n'
    const bytes = new TextEncoder().encode(text)
    for (const size of [1, 7, 1000]) {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size))
          controller.close()
        },
      })
      const events = []
      for await (const event of readEvents(body)) events.push(event)
      expect(events).toEqual([
        null,
        null,
        { event: 'rows', id: '3', data: '{"from":1,"rows":[[null,"é\\u0000: x"]]}' },
        { event: 'end', id: null, data: '{}' },
      ])
    }
  })
})

describe('resuming', () => {
  it('asks again for the rows that a cursor can still reach', () => {
    expect(resumeRow(0)).toBe(1)
    expect(resumeRow(50)).toBe(1)
    expect(resumeRow(1000)).toBe(901)
  })

  it('waits 1 to 30 seconds, by chance', () => {
    expect(waitMs(0, () => 0)).toBe(500)
    expect(waitMs(0, () => 1)).toBe(1000)
    expect(waitMs(20, () => 1)).toBe(30_000)
  })
})
