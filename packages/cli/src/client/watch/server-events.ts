// Reads server-sent events.

interface ServerEvent {
  /** Empty if the server gave none. */
  id: string
  event: string
  data: string
}

/**
 * The events of a response, in order. Throws if nothing arrives for `idleMs`: servers send a comment every 15 seconds, so
 * the connection is dead then, or something on the way holds the events back.
 */
export async function* readServerEvents(response: Response, idleMs = 45_000): AsyncGenerator<ServerEvent> {
  if (response.body === null) return
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await withLimit(reader.read(), idleMs)
      if (done) return
      const blocks = `${rest}${decoder.decode(value, { stream: true })}`.split(/\r?\n\r?\n/)
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const event = parseEvent(block)
        if (event !== null) yield event
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

/** null: a comment, or settings of the stream only. */
function parseEvent(block: string): ServerEvent | null {
  const event: ServerEvent = { id: '', event: 'message', data: '' }
  const data: string[] = []
  for (const line of block.split(/\r?\n/)) {
    const [, name, value = ''] = /^(\w+):? ?(.*)$/.exec(line) ?? []
    if (name === 'id') event.id = value
    else if (name === 'event') event.event = value
    else if (name === 'data') data.push(value)
  }
  return data.length === 0 ? null : { ...event, data: data.join('\n') }
}

async function withLimit<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`The server has sent nothing for ${ms / 1000} seconds.`)), ms)
  })
  try {
    return await Promise.race([promise, limit])
  } finally {
    clearTimeout(timer)
  }
}
