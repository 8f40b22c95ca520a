import { statSync, type Stats } from 'node:fs'

/**
 * The file, or null. Synchronous, because a dozen hooks are looked up before each command and nearly all are missing.
 */
export function fileAt(path: string): Stats | null {
  try {
    const found = statSync(path, { throwIfNoEntry: false })
    return found?.isFile() === true ? found : null
  } catch {
    return null
  }
}
