import { statSync, type Stats } from 'node:fs'

/**
 * The file there; null where there is none. A dozen are looked for before a command begins, and nearly all are
 * missing: to wait for each answer would cost more than the looking.
 */
export function fileAt(path: string): Stats | null {
  try {
    const found = statSync(path, { throwIfNoEntry: false })
    return found?.isFile() === true ? found : null
  } catch {
    return null
  }
}
