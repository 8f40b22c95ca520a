// Where the bundled program is: what the compiler made of the packages, and the libraries they use, in a few files that
// load in half the time. Its folder is named after what it was made of, so one that is out of date is not found.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

export const bundles = new URL('../dist/bundled/', import.meta.url)

const packages = ['engine', 'protocol', 'agent', 'server', 'cli']

/** null while the packages are not compiled. */
export function currentBundle() {
  try {
    const hash = createHash('sha256')
    for (const name of packages) {
      hash.update(readFileSync(new URL(`../../${name}/dist/.tsbuildinfo`, import.meta.url)))
    }
    return new URL(`${hash.digest('hex').slice(0, 32)}/`, bundles)
  } catch {
    return null
  }
}
