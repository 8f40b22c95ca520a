import { describe, expect, it, onTestFinished } from 'vitest'
import { useApp } from '../../../../../test/app.ts'
import {
  compactLogs,
  endLongAgo,
  jobsOfOneWorld,
  sendChunk,
  sendLog,
  type RunningScene,
} from '../../../../../test/job-runs.ts'

const app = useApp()
const aJob = jobsOfOneWorld(app)

interface Event {
  event: string
  id: string
  data: { from?: number; rows?: unknown }
}

/** A reader who keeps the rows as the events say. */
async function reader({ long, admin }: RunningScene, query = '', headers: Record<string, string> = {}) {
  const leaving = new AbortController()
  onTestFinished(() => leaving.abort())
  const response = await fetch(`${app.address}${long}/log/stream?as=rows${query}`, {
    headers: { Authorization: `Bearer ${admin.token}`, ...headers },
    signal: leaving.signal,
  })
  const body = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  const events: Event[] = []
  let unread = ''
  const rows: string[] = []
  const apply = ({ event, data }: Event) => {
    if (event !== 'rows' || data.from === undefined || !Array.isArray(data.rows)) return
    expect(data.from, 'no gap').toBeLessThanOrEqual(rows.length + 1)
    rows.length = data.from - 1
    rows.push(...data.rows.map(textOfRow))
  }
  return {
    response,
    events,
    rows,
    leave: () => leaving.abort(),
    async until(isReached: (rows: readonly string[], events: readonly Event[]) => boolean): Promise<void> {
      while (!isReached(rows, events)) {
        const { done, value } = (await body?.read()) ?? { done: true, value: undefined }
        if (done) throw new Error(`The stream ended at ${JSON.stringify(rows.slice(-5))}.`)
        unread += value
        const parts = unread.split('\n\n')
        unread = parts.pop() ?? ''
        for (const part of parts) {
          const fields = Object.fromEntries(part.split('\n').map((line) => line.split(/: (.*)/s, 2)))
          if (fields['data'] === undefined) continue
          const event = { event: fields['event'], id: fields['id'], data: JSON.parse(fields['data']) }
          events.push(event)
          apply(event)
        }
      }
    },
  }
}

const textOfRow = ([, ...runs]: Array<string | string[]>) =>
  runs.map((run) => (typeof run === 'string' ? run : run[0])).join('')

const isOver = (_: readonly string[], events: readonly Event[]) => events.at(-1)?.event === 'end'

/** Sends output piece by piece, as an agent does. */
function writer({ run }: RunningScene) {
  let sequence = 0
  let offset = 0
  return async (text: string | Buffer) => {
    const bytes = Buffer.from(text)
    await sendChunk(app, run, { sequence: ++sequence, offset, text: bytes })
    offset += bytes.length
  }
}

const rowsOf = async ({ long, admin }: RunningScene) => {
  const { text } = await app.request('GET', `${long}/log/rows?tail=2000`, { token: admin.token })
  const { rows }: { rows: Array<Array<string | string[]>> } = JSON.parse(text)
  return rows.map(textOfRow)
}

describe('GET …/log/stream?as=rows', () => {
  it('sends rows as they grow and change, and ends with the job', async () => {
    const scene = await aJob()
    const write = writer(scene)
    await write('one\ntw')
    const { response, rows, events, until } = await reader(scene)
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    await until(() => rows.length === 2)
    expect(rows).toEqual(['one', 'tw'])
    await write(Buffer.from('o€').subarray(0, 2))
    await until(() => rows[1] === 'two')
    await write(Buffer.concat([Buffer.from('€').subarray(1), Buffer.from('\n10%')]))
    await until(() => rows[2] === '10%')
    expect(rows).toEqual(['one', 'two€', '10%'])
    await write('\r100%\n\x1b[3A\x1b[2KONE\x1b[3B\rend')
    await until(() => rows[3] === 'end')
    expect(rows).toEqual(['ONE', 'two€', '100%', 'end'])
    await write('\x1b[2A\x1b[J')
    await until(() => rows.length === 2)
    expect(rows).toEqual(['ONE', 'two'])
    await scene.run.finish()
    await until(isOver)
    expect(events.at(-1)).toMatchObject({ event: 'end', data: { rows: 2 } })
    expect(rows).toEqual(await rowsOf(scene))
  })

  it('loses and repeats no row while an agent appends and rewrites, also for readers who come again', async () => {
    const scene = await aJob()
    const write = writer(scene)
    const first = await reader(scene)
    let lastId = ''
    const known: string[] = []
    for (let round = 0; round < 30; round++) {
      const lines = Array.from({ length: 40 }, (_, index) => `round ${round} line ${index}\n`).join('')
      await write(`${lines}\x1b[${1 + round * 3}A\x1b[2Kagain ${round}\r\x1b[${1 + round * 3}B`)
      if (round % 10 !== 5) continue
      const again = await reader(scene, '', lastId === '' ? {} : { 'Last-Event-ID': lastId })
      again.rows.push(...known.slice(0, Math.max(Number(lastId) - 1, 0)))
      await again.until((rows) => rows.some((row) => row === `again ${round}`))
      lastId = again.events.at(-1)?.id ?? ''
      known.splice(0, known.length, ...again.rows)
      again.leave()
    }
    await scene.run.finish()
    const last = await reader(scene, '', { 'Last-Event-ID': lastId })
    last.rows.push(...known.slice(0, Number(lastId) - 1))
    await Promise.all([first.until(isOver), last.until(isOver)])
    const expected = await rowsOf(scene)
    expect(expected).toHaveLength(1200)
    expect(first.rows).toEqual(expected)
    expect(last.rows).toEqual(expected)
  })

  it('continues after rows that a reader has from elsewhere, with those that may have changed since', async () => {
    const scene = await aJob()
    const write = writer(scene)
    await write(Array.from({ length: 500 }, (_, index) => `${index + 1}\n`).join(''))
    const known = await rowsOf(scene)
    await write(`\x1b[50A\x1b[2Kchanged\x1b[50B\r501\n`)
    await scene.run.finish()
    const { rows, events, until } = await reader(scene, '&row=501')
    rows.push(...known)
    await until(isOver)
    expect(events[0]?.data.from).toBe(401)
    expect(rows).toEqual(await rowsOf(scene))
    expect(rows[450]).toBe('changed')
  })

  it.each([
    { query: '', headers: {}, first: 1 },
    { query: '&row=2900', headers: {}, first: 2800 },
    { query: '&row=99999', headers: {}, first: 2901 },
    { query: '', headers: { 'Last-Event-ID': '2999' }, first: 2999 },
    { query: '', headers: { 'Last-Event-ID': '3001' }, first: undefined },
  ])('sends a compacted log from $first for $query $headers', async ({ query, headers, first }) => {
    const scene = await aJob()
    await sendLog(app, scene.run, Array.from({ length: 3000 }, (_, index) => `${index + 1}\n`).join(''))
    await endLongAgo(app, scene.run)
    await compactLogs(app.ctx)
    const { rows, events, until } = await reader(scene, query, headers)
    rows.push(...Array.from({ length: 3000 }, (_, index) => String(index + 1)))
    await until(isOver)
    expect(events[0]?.data.from).toBe(first)
    expect(events.at(-1)).toMatchObject({ event: 'end', id: '3001', data: { rows: 3000 } })
    expect(rows.slice(-2)).toEqual(['2999', '3000'])
    expect(rows).toHaveLength(3000)
  })

  it('sends an event when the log is deleted', async () => {
    const scene = await aJob()
    await sendLog(app, scene.run, 'x\n')
    const { rows, events, until } = await reader(scene)
    await until(() => rows.length === 1)
    await app.request('DELETE', `${scene.long}/log`, { token: scene.admin.token })
    await until(() => events.length === 2)
    expect(events[1]).toMatchObject({ event: 'deleted', data: {} })
  })

  it.each(['&row=0', '&row=x', '&as=html'])('refuses ?as=rows%s with 400', async (query) => {
    const { response } = await reader(await aJob(), query)
    expect(response.status).toBe(400)
  })
})
