import type { Env } from '@millrace/engine/environment.ts'

/** `NAME=value`, a line each; a value with line ends is quoted, so that it cannot pass for another variable. */
export const envText = (env: Env): string =>
  Object.entries(env)
    .map(([name, value]) => `${name}=${/[\r\n]/.test(value) ? JSON.stringify(value) : value}\n`)
    .join('')
