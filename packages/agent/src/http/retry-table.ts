// The retry policy of every call of the protocol.

import { constant, curve, isPassing, powersOfTwo, Refused } from './retry.ts'
import type { RetryRule } from './retry.ts'

const anything = (): boolean => true
const never = (): boolean => false
const isStatus = (failure: unknown, ...statuses: readonly number[]): boolean =>
  failure instanceof Refused && statuses.includes(failure.status)

const slowCurve = curve(2, 1.6082)
const quickCurve = curve(0.5, 1.475)
const once: RetryRule = { attempts: 1, wait: constant(0), repeats: never }
const fewSeconds: RetryRule = { attempts: 5, wait: constant(1), jitter: [0, 1], repeats: isPassing }
const halfMinute: RetryRule = { attempts: 10, wait: constant(5), repeats: isPassing }
const minutes: RetryRule = { attempts: 10, wait: slowCurve, repeats: isPassing }
/** The job is lost without them. */
const untilDone: RetryRule = {
  attempts: Number.POSITIVE_INFINITY,
  wait: (wait) => Math.min(slowCurve(wait), 60),
  jitter: [0, 1],
  totalSeconds: 3600,
  repeats: isPassing,
}

export const RETRIES = {
  register: { attempts: 30, wait: constant(10), repeats: isPassing },
  connect: { attempts: 10, wait: constant(5), repeats: anything },
  disconnect: { attempts: 4, wait: constant(1), repeats: anything },
  heartbeat: halfMinute,
  ping: once,
  acquire: {
    attempts: 7,
    wait: powersOfTwo,
    jitter: [-1, 5],
    totalSeconds: 330,
    repeats: (failure) => isStatus(failure, 423) || isPassing(failure),
    honorsRetryAfter: true,
  },
  // A repeated accept gets the same response. The server declares a job lost after three minutes without a request, so
  // the agent stops retrying earlier.
  accept: {
    attempts: 30,
    wait: (wait) => Math.min(2 ** wait, 5),
    jitter: [0, 1],
    totalSeconds: 120,
    repeats: isPassing,
  },
  start: { attempts: 7, wait: powersOfTwo, repeats: isPassing },
  jobState: once,
  chunk: untilDone,
  finish: untilDone,
  artifactCreate: { attempts: 10, wait: quickCurve, repeats: isPassing },
  artifactBytes: { attempts: 10, wait: constant(5), repeats: anything },
  artifactStates: { attempts: 10, wait: quickCurve, repeats: anything },
  artifactSearch: { attempts: 10, wait: constant(5), repeats: (failure) => !isStatus(failure, 401, 403) },
  artifactDownload: { attempts: 5, wait: constant(5), repeats: anything },
  // A job waits for its cache only for seconds, and then runs without.
  cache: { attempts: 4, wait: powersOfTwo, repeats: isPassing },
  cacheBytes: { attempts: 4, wait: powersOfTwo, repeats: isPassing },
  testResults: fewSeconds,
  annotate: fewSeconds,
  buildCancel: fewSeconds,
  agentControl: fewSeconds,
  metaDataSet: minutes,
  metaDataSetBatch: { ...minutes, repeats: (failure) => !isStatus(failure, 401, 403, 404, 422) },
  metaDataRead: halfMinute,
  step: halfMinute,
  jobUpdate: minutes,
  pipelineUpload: { attempts: 60, wait: constant(5), repeats: isPassing, honorsRetryAfter: true },
  pipelineUploadStatus: {
    attempts: 60,
    wait: constant(5),
    repeats: (failure) => !isStatus(failure, 422),
    honorsRetryAfter: true,
  },
  oidc: { attempts: 5, wait: powersOfTwo, repeats: isPassing },
  secret: { attempts: 3, wait: powersOfTwo, jitter: [-1, 5], repeats: isPassing },
  repositoryToken: { attempts: 3, wait: constant(5), repeats: isPassing, honorsRetryAfter: true },
} satisfies Record<string, RetryRule>

export type CallName = keyof typeof RETRIES
