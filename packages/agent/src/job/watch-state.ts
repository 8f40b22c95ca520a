// Polls the server for whether the job was canceled.

import { readState } from '../api/jobs.ts'
import type { Api } from '../http/call.ts'
import { Refused } from '../http/retry.ts'
import type { Cancel } from './cancel.ts'

const CANCELED = new Set(['canceling', 'canceled'])
const TIMED_OUT = new Set(['timing_out', 'timed_out'])

/** Ends with the signal, or when the job must stop. */
export async function watchState(
  api: Api,
  jobId: string,
  intervalSeconds: number,
  cancel: Cancel,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = api
  for (let wait = 0; !signal.aborted; wait = intervalSeconds) {
    await clock.sleep((wait + clock.random() * intervalSeconds) * 1000, signal)
    if (signal.aborted) return
    try {
      const { state } = await readState({ ...api, signal }, jobId)
      if (CANCELED.has(state)) cancel.request('cancel')
      if (TIMED_OUT.has(state)) cancel.request('cancel', true)
    } catch (error) {
      // The server revokes the token when the job is no longer ours.
      if (error instanceof Refused && error.status === 401) cancel.request('cancel')
    }
    if (cancel.requested !== null) return
  }
}
