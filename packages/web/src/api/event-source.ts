// Server-sent events of a response body. EventSource cannot send the header that makes the session cookie count.

export interface ServerEvent {
  event: string
  id: string | null
  data: string
}

/** Yields null for every comment, which tells that the connection lives. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent | null> {
  let unread = ''
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader()
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      unread += value
      for (let end = unread.indexOf('\n\n'); end !== -1; end = unread.indexOf('\n\n')) {
        yield readEvent(unread.slice(0, end))
        unread = unread.slice(end + 2)
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

function readEvent(text: string): ServerEvent | null {
  let event = 'message'
  let id: string | null = null
  const data: string[] = []
  for (const line of text.split('\n')) {
    const [, field, value = ''] = /^([a-z]+):? ?(.*)$/s.exec(line) ?? []
    if (field === 'event') event = value
    else if (field === 'id') id = value
    else if (field === 'data') data.push(value)
  }
  return data.length === 0 ? null : { event, id, data: data.join('\n') }
}
