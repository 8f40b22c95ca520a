// The log of one job: redacts the output, adds timestamps, cuts it into chunks and sends them.

import * as jobs from '../api/jobs.ts'
import type { Api } from '../http/call.ts'
import { sendChunks } from './chunks.ts'
import type { ChunksEnd } from './chunks.ts'
import { createRedactor, redactText } from './redactor.ts'
import { needlesOf, secretValues } from './secrets.ts'
import { createStamper } from './timestamps.ts'

export interface JobLog {
  write(bytes: Buffer): void
  /** A line by the agent. */
  say(line: string): void
  isFull(): boolean
  /** Called each time the log is ready for more after it was full. */
  onDrained(drained: () => void): void
  /** Throws TooManySecrets, and then hides none of the values. */
  hide(values: readonly string[]): void
  /** Redacts the values of variables with secret names. Throws as `hide` does. */
  hideVariables(env: Readonly<Record<string, string>>): void
  /** Redacts a text that leaves the machine outside the log. */
  redact(text: string): string
  close(): Promise<ChunksEnd>
}

interface JobLogOptions {
  api: Api
  jobId: string
  maxChunkBytes: number
  intervalSeconds: number
  /** Whether `close` returns a small rest instead of sending it. */
  keepsLast: boolean
  /** Names of variables whose values are secret. */
  redactedVariables: readonly string[]
}

/** Of all secrets of a job. The search needs 21 bytes of memory for each byte that it looks for. */
const MAX_SECRET_CHARACTERS = 256 * 1024
const COST_OF_LINE = 32
/** In all their encodings. */
const MAX_NEEDLE_BYTES = 8 * 1024 * 1024

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0)

export class TooManySecrets extends Error {
  constructor() {
    super('the job has more or longer secrets than its log can hide')
  }
}

export function openJobLog(options: JobLogOptions): JobLog {
  const { api, jobId, maxChunkBytes, intervalSeconds, keepsLast, redactedVariables } = options
  let whenDrained: () => void = () => {}
  const redactor = createRedactor()
  const hidden: Buffer[] = []
  const known = new Set<string>()
  let charactersLeft = MAX_SECRET_CHARACTERS
  let bytesLeft = MAX_NEEDLE_BYTES
  const hide = (values: readonly string[]) => {
    const fresh = [...new Set(values)].filter((value) => !known.has(value))
    const characters = sumOf(fresh.map((value) => value.length + COST_OF_LINE * value.split('\n').length))
    if (characters > charactersLeft) throw new TooManySecrets()
    const needles = fresh.flatMap(needlesOf)
    const bytes = sumOf(needles.map(({ length }) => length))
    if (bytes > bytesLeft) throw new TooManySecrets()
    charactersLeft -= characters
    bytesLeft -= bytes
    for (const value of fresh) known.add(value)
    hidden.push(...needles)
    redactor.add(needles)
  }
  const stamper = createStamper(api.clock.now)
  const chunks = sendChunks({
    maxBytes: maxChunkBytes,
    intervalSeconds,
    clock: api.clock,
    keepsLast,
    deliver: (chunk, gzipped) => jobs.sendChunk(api, jobId, chunkQuery(chunk), gzipped),
    drained: () => whenDrained(),
  })
  const write = (bytes: Buffer) => chunks.write(stamper.push(redactor.push(bytes)))

  return {
    write,
    say: (line) => write(Buffer.from(`${line}\n`)),
    isFull: chunks.isFull,
    onDrained(drained) {
      whenDrained = drained
    },
    hide,
    hideVariables: (env) => hide(secretValues(env, redactedVariables)),
    redact: (text) => redactText(text, hidden),
    async close() {
      chunks.write(stamper.push(redactor.end()))
      return await chunks.close()
    },
  }
}

function chunkQuery({ sequence, offset, bytes }: { sequence: number; offset: number; bytes: Buffer }) {
  return { sequence: String(sequence), offset: String(offset), size: String(bytes.length) }
}
