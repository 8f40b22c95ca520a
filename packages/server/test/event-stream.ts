// Reads a stream of server-sent events as a page does: by fetch, message by message.
import { onTestFinished } from 'vitest'
import { eventually } from './eventually.ts'
import type { TestApp } from './app.ts'

export interface SentEvent {
  event: string
  id: string | null
  data: Changes
}

export type ShortJob = Array<string | number | null>

interface Changes {
  cursor?: string
  builds?: Array<{ id: string; state: string; number: number; message: string | null }>
  jobs?: Array<{ build_id: string; job: ShortJob }>
  graphs?: string[]
  agents?: Array<{ id: string; connection_state: string; paused: boolean; job_id: string | null }>
  queues?: Array<{ id: string; dispatch_paused: boolean }>
}

interface TestStream {
  status: number
  messages: SentEvent[]
  /** The id of the last message. */
  cursor(): string
  /** Waits for the first message that fits. */
  until(what: string, fits: (message: SentEvent) => boolean): Promise<SentEvent>
  ended(): boolean
  close(): void
}

export async function openStream(
  app: Pick<TestApp, 'address'>,
  path: string,
  /** null: the headers have a cookie. */
  token: string | null,
  headers: Record<string, string> = {},
): Promise<TestStream> {
  const stopping = new AbortController()
  onTestFinished(() => stopping.abort())
  const answer = await fetch(`${app.address}${path}`, {
    headers: { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...headers },
    signal: stopping.signal,
  })
  const messages: SentEvent[] = []
  let isEnded = false
  const read = async () => {
    let rest = ''
    for await (const part of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
      const blocks = (rest + Buffer.from(part).toString()).split('\n\n')
      rest = blocks.pop() ?? ''
      messages.push(...blocks.flatMap(readBlock))
    }
  }
  void read()
    .catch(() => {})
    .finally(() => {
      isEnded = true
    })
  return {
    status: answer.status,
    messages,
    cursor: () => messages.findLast(({ id }) => id !== null)?.id ?? '',
    async until(what, fits) {
      let found: SentEvent | undefined
      await eventually(what, async () => {
        found = messages.find(fits)
        return found !== undefined
      })
      if (found === undefined) throw new Error(`No message: ${what}`)
      return found
    },
    ended: () => isEnded,
    close: () => stopping.abort(),
  }
}

function readBlock(block: string): SentEvent[] {
  const fields = new Map(
    block.split('\n').flatMap((line): Array<[string, string]> => {
      const [, name, value] = /^(\w+): (.*)$/.exec(line) ?? []
      return name === undefined || value === undefined ? [] : [[name, value]]
    }),
  )
  const data = fields.get('data')
  if (data === undefined) return []
  return [
    { event: fields.get('event') ?? '', id: fields.get('id') ?? null, data: JSON.parse(data) as Changes },
  ]
}
