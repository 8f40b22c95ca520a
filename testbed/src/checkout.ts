// A copy of this checkout as it is before its first start.
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const unwanted = new Set(['.git', 'node_modules', 'bundled', '.npm-cache'])
/** What people make with `npm start`, `npm run bench` and `npm run release`. */
const made = new Set(['data', 'dist', 'bench/results'].map((name) => join(root, name)))

/** It is compiled, with linked libraries and without a bundle. */
export function copyCheckout(checkout: string): void {
  cpSync(root, checkout, {
    recursive: true,
    filter: (path) => !unwanted.has(basename(path)) && !made.has(path),
    preserveTimestamps: true,
  })
  mkdirSync(join(checkout, 'node_modules'))
  const modules = join(root, 'node_modules')
  for (const name of readdirSync(modules)) {
    if (name === '@millrace') continue
    const [from, to] = [join(modules, name), join(checkout, 'node_modules', name)]
    if (name.startsWith('.')) cpSync(from, to, { recursive: true, verbatimSymlinks: true })
    else symlinkSync(from, to)
  }
  mkdirSync(join(checkout, 'node_modules', '@millrace'))
  for (const name of readdirSync(join(checkout, 'packages'))) {
    symlinkSync(join(checkout, 'packages', name), join(checkout, 'node_modules', '@millrace', name))
    const own = join('packages', name, 'node_modules')
    if (existsSync(join(root, own))) symlinkSync(join(root, own), join(checkout, own))
  }
}
