// Finds the bundled program: the compiled packages and their libraries in a few files, which load in half the time. Its
// folder is named after the sources of the packages, so an outdated bundle is not found.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

const bundles = new URL('../dist/bundled/', import.meta.url)

const packages = ['engine', 'protocol', 'agent', 'server', 'cli']

/** null while the packages are not compiled. */
export function currentBundle() {
  try {
    const hash = createHash('sha256')
    for (const name of packages) {
      hash.update(readFileSync(new URL(`../../${name}/dist/.sources`, import.meta.url)))
    }
    return new URL(`${hash.digest('hex').slice(0, 32)}/`, bundles)
  } catch {
    return null
  }
}
