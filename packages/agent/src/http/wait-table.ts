// How long one attempt of each call waits. A connection can die without a sign, so a call that is normally answered in
// milliseconds is soon repeated on another one. After attempts without an answer the limit grows: the server may only be busy.

import type { Wait } from './exchange.ts'
import type { CallName } from './retry-table.ts'

const LONGEST_MS = 60_000
/** The first three attempts are enough for a short interruption of the network. */
const GROWTH = [1, 1, 1, 2, 4, 8, 12]

interface WaitRule {
  wait: Wait
  /** Whether the limit grows after attempts without an answer. */
  grows: boolean
}

/** Repeating these changes nothing, and the server does little for them. */
const quick: WaitRule = { wait: { answerMs: 5000 }, grows: true }
/** The server holds the answer, asks others first, or would do again what it has done already. */
const patient: WaitRule = { wait: { answerMs: LONGEST_MS }, grows: false }
/** Small bodies that are sent often. */
const moving: WaitRule = { wait: { stallMs: 5000 }, grows: true }
/** Large bodies, which the server may process before it answers. */
const large: WaitRule = { wait: { stallMs: LONGEST_MS }, grows: false }

const WAITS: Readonly<Record<CallName, WaitRule>> = {
  register: patient,
  connect: quick,
  disconnect: quick,
  heartbeat: quick,
  ping: patient,
  acquire: patient,
  accept: quick,
  start: quick,
  jobState: quick,
  chunk: moving,
  finish: moving,
  artifactCreate: large,
  artifactBytes: large,
  artifactStates: large,
  artifactSearch: large,
  artifactDownload: large,
  cache: large,
  cacheBytes: large,
  testResults: large,
  annotate: patient,
  buildCancel: patient,
  agentControl: patient,
  metaDataSet: large,
  metaDataSetBatch: large,
  metaDataRead: quick,
  step: patient,
  jobUpdate: patient,
  pipelineUpload: large,
  pipelineUploadStatus: patient,
  oidc: patient,
  secret: patient,
  repositoryToken: patient,
}

/** `silences` is how many attempts before this one had no answer. */
export function waitFor(name: CallName, silences: number): Wait {
  const { wait, grows } = WAITS[name]
  if (!grows) return wait
  const factor = GROWTH[Math.min(silences, GROWTH.length - 1)] ?? 1
  return Object.fromEntries(
    Object.entries(wait).map(([limit, ms]: [string, number]) => [limit, Math.min(ms * factor, LONGEST_MS)]),
  )
}
