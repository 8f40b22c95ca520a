// The messages between an agent and the process of a job, as lines of JSON on its standard input and output. They do not use Node's
// channel between processes: processes of the job can take hold of the job's end, and Node keeps whatever comes, without a limit.

import type { Readable } from 'node:stream'
import type { Job } from '@millrace/protocol/jobs.ts'
import type { Session } from '../http/session.ts'
import type { JobReport } from '../job/run-job.ts'
import { isMap } from '../json-map.ts'
import type { JobLaunch } from '../settings.ts'

export type ToJobProcess = { kind: 'run'; work: JobWork } | { kind: 'let-go' }

export interface JobWork {
  options: JobLaunch['options']
  /** Has the job's token, never the agent's. */
  session: Session
  job: Job
  jobStatusIntervalSeconds: number
}

/** null: the server no longer wants the job. */
export interface FromJobProcess {
  report: JobReport | null
}

export const lineOf = (message: ToJobProcess | FromJobProcess): string => `${JSON.stringify(message)}\n`

/** Calls `take` with each line. What is longer than `maxBytes` ends the stream. */
export function readLines(from: Readable, maxBytes: number, take: (line: string) => void): void {
  let parts: Buffer[] = []
  let size = 0
  from.on('data', (bytes: Buffer) => {
    let rest = bytes
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
      const line = Buffer.concat([...parts, rest.subarray(0, end)]).toString()
      parts = []
      size = 0
      rest = rest.subarray(end + 1)
      take(line)
    }
    size += rest.length
    if (size > maxBytes) {
      parts = []
      from.destroy()
    } else if (rest.length > 0) parts.push(rest)
  })
}

/** Far more than a report has. */
const MAX_ANSWER_BYTES = 64 * 1024

/** Calls `take` with the first line, if it is an answer. A job can write anything. */
export function readAnswer(from: Readable, take: (answer: FromJobProcess) => void): void {
  from.on('error', () => {})
  readLines(from, MAX_ANSWER_BYTES, (line) => {
    const answer = parseAnswer(line)
    from.destroy()
    if (answer !== null) take(answer)
  })
}

function parseAnswer(line: string): FromJobProcess | null {
  try {
    const answer: unknown = JSON.parse(line)
    return isAnswer(answer) ? answer : null
  } catch {
    return null
  }
}

function isAnswer(answer: unknown): answer is FromJobProcess {
  if (!isMap(answer)) return false
  const { report } = answer
  if (report === null) return true
  return isMap(report) && typeof report['isHeard'] === 'boolean' && isMap(report['finish'])
}
