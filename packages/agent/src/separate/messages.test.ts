import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { lineOf, readAnswer, type FromJobProcess } from './messages.ts'

const report = { finish: { exit_status: '1', finished_at: 'now', chunks_failed_count: 0 }, isHeard: true }

/** What the agent takes from a job that writes this. */
async function taken(parts: readonly string[]): Promise<FromJobProcess[]> {
  const stream = new PassThrough()
  const answers: FromJobProcess[] = []
  readAnswer(stream, (answer) => answers.push(answer))
  for (const part of parts) stream.write(part)
  stream.end()
  await new Promise((resolve) => stream.once('close', resolve))
  return answers
}

describe('the answer of a job process', () => {
  it('is its first line, in however many parts', async () => {
    const line = lineOf({ report })
    expect(await taken([line, lineOf({ report: null })])).toEqual([{ report }])
    expect(await taken(line.split(''))).toEqual([{ report }])
    expect(await taken([lineOf({ report: null })])).toEqual([{ report: null }])
  })

  it.each(['', '\n', 'null\n', '{"cmd":"NODE_HANDLE"}\n', '{"report":{"isHeard":true}}\n', '{"report":1}\n'])(
    'is not %j',
    async (text) => expect(await taken([text])).toEqual([]),
  )

  it('ends the stream when it is too long', async () => {
    const stream = new PassThrough()
    readAnswer(stream, () => {})
    const closed = new Promise((resolve) => stream.once('close', resolve))
    for (let sent = 0; sent < 128 && !stream.destroyed; sent++) stream.write(Buffer.alloc(1024, 'x'))
    await closed
    expect(stream.destroyed).toBe(true)
  })
})
