import { expect, it } from 'vitest'
import { readEvents } from './event-source.ts'

async function collect(body: ReadableStream<Uint8Array>) {
  const events = []
  for await (const event of readEvents(body)) events.push(event)
  return events
}

async function readAll(...chunks: string[]) {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk))
      controller.close()
    },
  })
  return collect(body)
}

it('reads events, whatever the borders of the chunks', async () => {
  const events = [
    { event: 'hello', id: null, data: '{"cursor":"1"}' },
    { event: 'changes', id: '2', data: '{"a":1}' },
  ]
  const text = 'event: hello\ndata: {"cursor":"1"}\n\nevent: changes\nid: 2\ndata: {"a":1}\n\n'
  expect(await readAll(text)).toEqual(events)
  expect(await readAll(...text.split(''))).toEqual(events)
})

it('tells of comments, joins lines of data, and leaves out an event without an end', async () => {
  expect(await readAll(': alive\n\ndata: a\ndata: b\n\ndata: cut off')).toEqual([
    null,
    { event: 'message', id: null, data: 'a\nb' },
  ])
})

it('keeps characters that lie across two chunks', async () => {
  const bytes = new TextEncoder().encode('data: ü\n\n')
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte))
      controller.close()
    },
  })
  expect(await collect(body)).toEqual([{ event: 'message', id: null, data: 'ü' }])
})
