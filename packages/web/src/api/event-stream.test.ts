import { expect, it } from 'vitest'
import { readEvents, waitMs, type ServerEvent } from './event-stream.ts'

/** The events of a body that arrives in chunks of `size` bytes, and how many chunks there were. */
async function readAll(text: string, size: number) {
  const bytes = new TextEncoder().encode(text)
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size))
      controller.close()
    },
  })
  const events: ServerEvent[] = []
  let chunks = 0
  const onChunk = () => chunks++
  await readEvents(body, (event) => events.push(event), onChunk)
  return { events, chunks }
}

it('reads events however the bytes are cut', async () => {
  const text =
    'retry: 1000\n\n: alive\n\nevent: hello\ndata: {"cursor":"1"}\n\n' +
    'event: rows\nid: 3\ndata: {"from":1,"rows":[[null,"é\\u0000: x"]]}\n\nevent: end\ndata: {}\n\n'
  for (const size of [1, 7, 1000]) {
    expect((await readAll(text, size)).events).toEqual([
      { event: 'hello', data: '{"cursor":"1"}' },
      { event: 'rows', id: '3', data: '{"from":1,"rows":[[null,"é\\u0000: x"]]}' },
      { event: 'end', data: '{}' },
    ])
  }
})

it('joins lines of data, and leaves out an event without an end', async () => {
  const { events } = await readAll('data: a\ndata: b\n\ndata: cut off', 1000)
  expect(events).toEqual([{ data: 'a\nb' }])
})

it('tells of comments, which say that the connection is open', async () => {
  expect(await readAll(': alive\n\n', 1000)).toEqual({ events: [], chunks: 1 })
})

it('waits longer after each failure, 30 seconds at most, by chance', () => {
  expect(waitMs(0, () => 1)).toBe(1000)
  expect(waitMs(1, () => 0)).toBe(500)
  expect(waitMs(1, () => 1)).toBe(1000)
  expect(waitMs(3, () => 0)).toBe(2000)
  expect(waitMs(21, () => 1)).toBe(30_000)
  expect(waitMs(50, () => 1)).toBe(30_000)
})
