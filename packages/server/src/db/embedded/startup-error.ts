/** A problem for the operator to fix; the message is one sentence that says what to do. */
export class StartupError extends Error {
  override name = 'StartupError'
}

export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
