import * as agents from '../api/agents.ts'
import type { Api } from '../http/call.ts'
import { isPassing } from '../http/retry.ts'

/** Runs until the signal; calls `heard` after each response. Returns the refusal if the server no longer knows this agent. */
export async function keepBeating(
  api: Api,
  intervalSeconds: number,
  signal: AbortSignal,
  heard: () => void,
): Promise<Error | null> {
  for (;;) {
    await api.clock.sleep(intervalSeconds * 1000, signal)
    if (signal.aborted) return null
    try {
      await agents.heartbeat({ ...api, signal })
      heard()
    } catch (error) {
      // Continue through an outage of the server.
      if (!signal.aborted && !isPassing(error))
        return error instanceof Error ? error : new Error(String(error))
    }
  }
}
