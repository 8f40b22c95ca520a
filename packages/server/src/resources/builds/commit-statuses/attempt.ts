// An attempt to tell a host something: why it failed, and when the next one is due.
import { OutboundError } from '../../../lib/outbound.ts'
import { backoffMs } from '../../../notifications/delivery/backoff.ts'
import { TokenRefused } from '../../../source-hosts/host.ts'

const givenUpMs = 24 * 60 * 60 * 1000
const longestWaitSeconds = 3600

export interface Problem {
  message: string
  waitSeconds: number
}

export const noToken: Problem = {
  message: 'No connection with a token belongs to the repository.',
  waitSeconds: 0,
}

/** Null: the attempt succeeded. */
export async function problemIn(attempt: () => Promise<Problem | null>): Promise<Problem | null> {
  try {
    return await attempt()
  } catch (error) {
    if (error instanceof OutboundError) return { message: error.message, waitSeconds: 0 }
    if (error instanceof TokenRefused) return { message: error.message, waitSeconds: error.waitSeconds }
    throw error
  }
}

export const retryAfter = (header: string | undefined): number =>
  /^\d{1,6}$/.test(header ?? '') ? Math.min(Number(header), longestWaitSeconds) : 0

/** `next` null: no further attempt is made. */
export function planNext(
  due: { attempts: number; changed_at: string; connection: object | null },
  problem: Problem,
  at: Date,
): { message: string; next: string | null } {
  const next = at.getTime() + Math.max(backoffMs(due.attempts + 1), problem.waitSeconds * 1000)
  const isOver = due.connection === null || next - Date.parse(due.changed_at) > givenUpMs
  return isOver
    ? { message: `Given up: ${problem.message}`, next: null }
    : { message: problem.message, next: new Date(next).toISOString() }
}
