import * as agents from '../api/agents.ts'
import type { Api } from '../http/call.ts'
import { isPassing } from '../http/retry.ts'

/** Until the signal; `heard` is called after each answer. Returns what the server refused with, when it no longer knows this agent. */
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
      // A server that is away for a while finds us alive when it is back.
      if (!signal.aborted && !isPassing(error))
        return error instanceof Error ? error : new Error(String(error))
    }
  }
}
