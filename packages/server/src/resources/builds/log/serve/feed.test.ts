import { describe, expect, it, onTestFinished } from 'vitest'
import { eventually, useApp } from '../../../../../test/app.ts'
import { jobsOfOneWorld, sendChunk, sendLog } from '../../../../../test/job-runs.ts'
import type { Log } from '../source.ts'
import { Feeds } from './feed.ts'
import { follow } from './follow.ts'
import { TextEnd } from './text-end.ts'

const app = useApp()
const aJob = jobsOfOneWorld(app)

/** Counts how often the log is read. */
class CountedEnd extends TextEnd {
  reads = 0

  override async grow(log: Log): Promise<boolean> {
    this.reads++
    return super.grow(log)
  }
}

describe('the streams of a log', () => {
  it('share one reader, which stops with the last of them', async () => {
    const { run, org } = await aJob()
    await sendLog(app, run, 'one\n')
    const feeds = new Feeds(() => new CountedEnd())
    const leaving = Array.from({ length: 1500 }, () => new AbortController())
    onTestFinished(() => leaving.forEach((one) => one.abort()))
    const log = { ctx: app.ctx, orgId: org.id, jobId: run.id }
    const joined = leaving.map(({ signal }) => feeds.join(log, signal))
    expect(new Set(joined).size).toBe(1)
    const feed = feeds.join(log, AbortSignal.abort())
    expect(joined[0]).toBe(feed)
    const { end, changed } = feed.look()
    await changed()
    expect(end.reads).toBe(1)
    expect(end.bytesFrom(0, 100).toString()).toBe('one\n')
    for (const one of leaving.slice(1)) one.abort()
    expect(feeds.join(log, AbortSignal.abort())).toBe(feed)
    leaving[0]?.abort()
    const another = new AbortController()
    onTestFinished(() => another.abort())
    expect(feeds.join(log, another.signal)).not.toBe(feed)
  })

  it('each get the whole text, wherever they begin and however slowly they read', async () => {
    const { run, org } = await aJob()
    const lines = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, index) => `${from + index} ${'€'.repeat(50)}\n`).join('')
    const [early, late] = [lines(0, 3000), lines(3000, 6000)]
    await sendLog(app, run, early)
    const leaving = new AbortController()
    onTestFinished(() => leaving.abort())
    const whole = Buffer.from(early + late)
    const log = { ctx: app.ctx, orgId: org.id, jobId: run.id }
    const starts = [0, 0, early.indexOf('\n') + 1, Buffer.byteLength(early)]
    const read = starts.map((from) => {
      const stream = follow(log, from, leaving.signal)
      let text = ''
      let isOver = false
      stream.on('data', (part: Buffer) => {
        for (const [, json = ''] of part.toString().matchAll(/^data: (.*)$/gm)) {
          const data: { text?: string; size?: number } = JSON.parse(json)
          text += data.text ?? ''
          isOver ||= data.size !== undefined
        }
      })
      return { from, stream, text: () => text, isOver: () => isOver }
    })
    const [slow, fast] = read
    slow?.stream.pause()
    await eventually('the early text', async () => fast?.text() === early)
    await sendChunk(app, run, { sequence: 2, offset: Buffer.byteLength(early), text: late })
    await eventually('the late text', async () => fast?.text() === early + late)
    slow?.stream.resume()
    await run.finish()
    await eventually('all ends', async () => read.every(({ isOver }) => isOver()))
    for (const { from, text } of read) expect(text()).toBe(whole.subarray(from).toString())
  })
})
