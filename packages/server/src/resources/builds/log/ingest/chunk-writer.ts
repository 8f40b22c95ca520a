// Writes the chunks of all jobs of a process. Chunks that arrive close together become one INSERT, because with many jobs the
// commits would cost more than the chunks.
//
// - A chunk waits only for jobs that have sent one within `activeMs`, and at most `gatherMs`. So the chunks of a lone job are
//   written at once, however fast they come. The last chunk of a job is written at once, with all that wait.
// - At most `mostInserts` statements run at once. Chunks that arrive meanwhile wait for one of them to end.
// - A chunk is answered after its commit. If the data of one chunk is refused, the chunks of its statement are written one by
//   one, so no chunk fails because of another.
// - Waiting chunks are limited by their size. Beyond it agents are told to try again.
import type { Db } from '../../../../db/pool.ts'
import { isDatabaseAway, isDatabaseBusy } from '../../../../db/away.ts'
import { unavailable } from '../../../../lib/errors.ts'
import * as logs from '../queries.ts'
import type { ChunkOfJob } from '../queries.ts'

const gatherMs = 25
const activeMs = 100
const mostInserts = 2
const mostRows = 500
/** A statement is sent at this size. Its last chunk may make it larger. */
const fullBytes = 512 * 1024
const mostWaitingBytes = 64 * 1024 * 1024

/** Returns the jobs whose chunks came too late. */
type Insert = (chunks: readonly ChunkOfJob[]) => Promise<ReadonlySet<string>>

interface Waiting {
  chunk: ChunkOfJob
  resolve(isInTime: boolean): void
  reject(error: unknown): void
}

export class ChunkWriter {
  private readonly insert: Insert
  /** Milliseconds of a clock that is never set back. */
  private readonly now: () => number
  private waiting: Waiting[] = []
  private waitingBytes = 0
  /** When the first of them arrived. */
  private since = 0
  private isUrgent = false
  private running = 0
  private timer: NodeJS.Timeout | undefined
  /** The jobs that have sent a chunk lately, and when; the oldest first. */
  private readonly active = new Map<string, number>()

  constructor(insert: Insert, now = () => performance.now()) {
    this.insert = insert
    this.now = now
  }

  /** Returns when the chunk is committed. False: it came too long after the end of its job, and is not stored. */
  write(chunk: ChunkOfJob): Promise<boolean> {
    return this.add(chunk, false)
  }

  /** For a chunk that no other of its job follows. */
  writeLast(chunk: ChunkOfJob): Promise<boolean> {
    return this.add(chunk, true)
  }

  private add(chunk: ChunkOfJob, isUrgent: boolean): Promise<boolean> {
    if (this.waitingBytes > mostWaitingBytes) {
      throw unavailable('More logs arrive than the database can store. Try again in a moment.')
    }
    return new Promise((resolve, reject) => {
      if (this.waiting.length === 0) this.since = this.now()
      this.waiting.push({ chunk, resolve, reject })
      this.waitingBytes += chunk.data.length
      this.isUrgent ||= isUrgent
      this.noteActive(chunk.job_id)
      this.advance()
    })
  }

  private noteActive(jobId: string): void {
    const now = this.now()
    this.active.delete(jobId)
    this.active.set(jobId, now)
    for (const [id, at] of this.active) {
      if (now - at <= activeMs) return
      this.active.delete(id)
    }
  }

  private advance(): void {
    if (this.waiting.length === 0 || this.running >= mostInserts) return
    const isComplete = this.isUrgent || this.waiting.length >= this.active.size
    const isFull = this.waitingBytes >= fullBytes || this.waiting.length >= mostRows
    const dueInMs = this.since + gatherMs - this.now()
    if (isComplete || isFull || dueInMs <= 0) void this.send(this.take())
    else this.timer ??= setTimeout(() => this.onTimer(), dueInMs)
  }

  private onTimer(): void {
    this.timer = undefined
    this.advance()
  }

  /** The chunks of the next statement. */
  private take(): Waiting[] {
    let bytes = 0
    const end = this.waiting.findIndex(({ chunk }, index) => {
      if (index === mostRows || bytes >= fullBytes) return true
      bytes += chunk.data.length
      return false
    })
    const taken = this.waiting.splice(0, end === -1 ? this.waiting.length : end)
    this.waitingBytes -= bytes
    this.since = this.now()
    this.isUrgent &&= this.waiting.length > 0
    return taken
  }

  private async send(taken: readonly Waiting[]): Promise<void> {
    this.running++
    // Others may follow.
    this.advance()
    try {
      const late = await this.insert(taken.map(({ chunk }) => chunk))
      for (const { chunk, resolve } of taken) resolve(!late.has(chunk.job_id))
    } catch (error) {
      const isOfAll = taken.length === 1 || isDatabaseAway(error) || isDatabaseBusy(error)
      if (isOfAll) for (const { reject } of taken) reject(error)
      else
        for (const { chunk, resolve, reject } of taken)
          await this.insert([chunk]).then((late) => resolve(late.size === 0), reject)
    } finally {
      this.running--
      this.advance()
    }
  }
}

const writers = new WeakMap<Db, ChunkWriter>()

/** One for all requests of a process. */
export function chunkWriter(db: Db): ChunkWriter {
  const writer = writers.get(db) ?? new ChunkWriter((chunks) => logs.insertChunks(db, chunks))
  writers.set(db, writer)
  return writer
}
