import { describe, expect, it } from 'vitest'
import { eventually, useApp } from '../../../../../test/app.ts'
import { endLongAgo, jobsOfOneWorld, type RunningScene } from '../../../../../test/job-runs.ts'
import { newId } from '../../../../lib/ids.ts'
import { ChunkWriter } from './chunk-writer.ts'
import { insertChunks, type ChunkOfJob } from '../queries.ts'

const app = useApp()
const aJob = jobsOfOneWorld(app)

const aChunk = (given: Partial<ChunkOfJob> = {}): ChunkOfJob => ({
  organization_id: newId(),
  job_id: newId(),
  sequence: 1,
  byte_offset: 0,
  size: 5,
  data: Buffer.from('hello'),
  ...given,
})

/** No chunk is late. */
const none: ReadonlySet<string> = new Set()

/** Records the chunks of each INSERT, which ends when `end` is called. */
function watchedWriter(now?: () => number) {
  const inserts: ChunkOfJob[][] = []
  const running: Array<() => void> = []
  const insert = (chunks: readonly ChunkOfJob[]) => {
    inserts.push([...chunks])
    return new Promise<ReadonlySet<string>>((resolve) => running.push(() => resolve(none)))
  }
  const writer = new ChunkWriter(insert, now)
  return { writer, inserts, sizes: () => inserts.map(({ length }) => length), end: () => running.shift()?.() }
}

/** A clock that stands still: chunks wait for other jobs without end. */
const noTime = () => 0

describe('the writer of chunks', () => {
  it('writes every chunk of a lone job at once', async () => {
    const { writer, sizes, end } = watchedWriter(noTime)
    const jobId = newId()
    for (let sequence = 1; sequence <= 5; sequence++) {
      const written = writer.write(aChunk({ job_id: jobId, sequence }))
      expect(sizes()).toHaveLength(sequence)
      end()
      await written
    }
    expect(sizes()).toEqual([1, 1, 1, 1, 1])
  })

  it('waits for the jobs that have sent lately, and then writes the chunks of all', async () => {
    const { writer, sizes, end } = watchedWriter(noTime)
    const jobs = [newId(), newId(), newId()]
    for (const job_id of jobs) {
      const written = writer.writeLast(aChunk({ job_id }))
      end()
      await written
    }
    const written = jobs.map((job_id) => writer.write(aChunk({ job_id, sequence: 2 })))
    expect(sizes()).toEqual([1, 1, 1, 3])
    end()
    await Promise.all(written)
  })

  it('does not wait long for jobs that send nothing more', async () => {
    const written: number[] = []
    const writer = new ChunkWriter(async (chunks) => {
      written.push(chunks.length)
      return none
    })
    await Promise.all([writer.writeLast(aChunk()), writer.writeLast(aChunk())])
    await writer.write(aChunk())
    expect(written).toEqual([1, 1, 1])
  })

  it('runs two statements at once, and gathers what arrives meanwhile', async () => {
    const { writer, sizes, end } = watchedWriter(noTime)
    const [first, second] = [writer.writeLast(aChunk()), writer.writeLast(aChunk())]
    const rest = Promise.all(Array.from({ length: 30 }, () => writer.writeLast(aChunk())))
    expect(sizes()).toEqual([1, 1])
    end()
    await first
    expect(sizes()).toEqual([1, 1, 30])
    end()
    await second
    end()
    await rest
  })

  it('limits the size of a statement, and of all chunks that wait', async () => {
    const { writer, sizes, inserts, end } = watchedWriter(noTime)
    const ofBytes = (bytes: number) => writer.writeLast(aChunk({ data: Buffer.alloc(bytes) }))
    const written = [ofBytes(1), ofBytes(1), ...Array.from({ length: 3 }, () => ofBytes(300 * 1024))]
    end()
    await written[0]
    expect(sizes()).toEqual([1, 1, 2])
    for (let count = 0; count < 8; count++) written.push(ofBytes(8 * 1024 ** 2))
    expect(() => ofBytes(1)).toThrow('Try again in a moment')
    const all = Promise.all(written)
    await eventually('all are written', async () => {
      end()
      return inserts.flat().length === written.length
    })
    for (let count = 0; count < 2; count++) end()
    await all
    expect(sizes().slice(3)).toEqual([2, ...Array.from({ length: 7 }, () => 1)])
  })
})

describe('chunks that are written together', () => {
  const stored = async ({ run }: RunningScene) => {
    const rows = await app.db
      .selectFrom('job_log_chunks')
      .select(['sequence', 'byte_offset', 'size', 'data'])
      .where('job_id', '=', run.id)
      .orderBy('sequence')
      .execute()
    return rows.map((row) => ({ ...row, data: row.data.toString() }))
  }
  const chunkOf = ({ org, run }: RunningScene, given: Partial<ChunkOfJob> = {}) =>
    aChunk({ organization_id: org.id, job_id: run.id, ...given })

  it('are each stored, repeated, too late or of an unknown job as if they were alone', async () => {
    const [one, other, late] = [await aJob(), await aJob(), await aJob()]
    await endLongAgo(app, late.run)
    await insertChunks(app.db, [chunkOf(other, { sequence: 3, data: Buffer.from('first') })])
    const refused = await insertChunks(app.db, [
      chunkOf(one, { sequence: 2, byte_offset: 5, data: Buffer.from('there') }),
      chunkOf(other, { sequence: 3, data: Buffer.from('again') }),
      chunkOf(late),
      aChunk(),
      aChunk({ job_id: one.run.id, sequence: 9 }),
      chunkOf(one, { sequence: 1 }),
      chunkOf(one, { sequence: 1, data: Buffer.from('twice') }),
      chunkOf(other, { sequence: 4, data: Buffer.alloc(0), size: 0 }),
    ])
    expect(await stored(one)).toEqual([
      { sequence: 1, byte_offset: 0, size: 5, data: expect.stringMatching(/^(hello|twice)$/) },
      { sequence: 2, byte_offset: 5, size: 5, data: 'there' },
    ])
    expect(await stored(other)).toEqual([
      { sequence: 3, byte_offset: 0, size: 5, data: 'first' },
      { sequence: 4, byte_offset: 0, size: 0, data: '' },
    ])
    expect(await stored(late)).toEqual([])
    expect([...refused]).toEqual([late.run.id])
  })

  it('are stored although one of them is refused', async () => {
    const [good, bad] = [await aJob(), await aJob()]
    const writer = new ChunkWriter((chunks) => insertChunks(app.db, chunks))
    const writes = [
      ...[1, 2].map((sequence) => writer.writeLast(chunkOf(good, { sequence }))),
      writer.writeLast(chunkOf(bad, { sequence: 2 ** 31 })),
      ...[3, 4].map((sequence) => writer.writeLast(chunkOf(good, { sequence }))),
    ]
    const outcomes = await Promise.allSettled(writes)
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ])
    expect((await stored(good)).map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4])
    expect(await stored(bad)).toEqual([])
  })
})
