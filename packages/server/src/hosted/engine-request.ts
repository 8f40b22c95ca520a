// A time limit and error handling for requests to all engines.
import { HostedNotFound, HostedUnavailable } from './driver.ts'

/** Fails with HostedUnavailable after so many seconds, also if the request ignores the signal. */
export async function withTimeLimit<T>(
  seconds: number,
  engine: string,
  request: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const signal = AbortSignal.timeout(seconds * 1000)
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new HostedUnavailable(`${engine} did not answer in time.`)))
  })
  return Promise.race([request(signal), late])
}

/** For `catch`: null instead of HostedNotFound. */
export const nullIfNotFound = (error: unknown): null => {
  if (error instanceof HostedNotFound) return null
  throw error
}

/** For `catch`, after a deletion. */
export const ignoreNotFound = (error: unknown): void => void nullIfNotFound(error)

/** Messages of container runtimes when the image does not have the command. Their status codes differ. */
export const badCommand =
  /executable file .* not found|executable file not found|exec: .*: (no such file|permission denied)/i
