// How many requests for its repository a job has on this server at once. Each is a process of ssh, or a connection to the host.
import { unavailable } from '../../lib/errors.ts'

export const mostOfJob = 4
export const mostOfFork = 2
/** git gives up at the first 503, so a request waits for a place before it is refused. */
const waitMs = 30_000

interface Places {
  held: number
  waiting: Set<() => void>
}

const ofJobs = new Map<string, Places>()

/** The place is held until `gone` aborts. Throws 503 when none becomes free in time. */
export async function takePlace(
  jobId: string,
  most: number,
  gone: AbortSignal,
  longestMs = waitMs,
): Promise<void> {
  const places = ofJobs.get(jobId) ?? { held: 0, waiting: new Set() }
  ofJobs.set(jobId, places)
  if (places.held < most) places.held += 1
  else await waitFor(places, gone, longestMs)
  const release = () => giveBack(jobId, places)
  if (gone.aborted) release()
  else gone.addEventListener('abort', release, { once: true })
}

function waitFor(places: Places, gone: AbortSignal, longestMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const stopWaiting = () => {
      clearTimeout(timer)
      gone.removeEventListener('abort', refuse)
      places.waiting.delete(start)
    }
    const start = () => {
      stopWaiting()
      resolve()
    }
    const refuse = () => {
      stopWaiting()
      reject(
        unavailable('The job reads its repository too often at the same time. Asking again later is safe.'),
      )
    }
    const timer = setTimeout(refuse, longestMs)
    gone.addEventListener('abort', refuse, { once: true })
    places.waiting.add(start)
  })
}

/** The one that waits longest gets the place. */
function giveBack(jobId: string, places: Places): void {
  const [next] = places.waiting
  if (next !== undefined) return next()
  places.held -= 1
  if (places.held === 0) ofJobs.delete(jobId)
}
