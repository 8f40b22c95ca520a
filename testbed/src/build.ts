// Builds the program that end-to-end tests run, once a run. `npm test` without a path has done that already.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export function setup(): void {
  if (process.env['MILLRACE_BUILT']) return
  const root = fileURLToPath(new URL('../..', import.meta.url))
  execFileSync(process.execPath, ['tools/prepare.mjs'], { cwd: root, stdio: 'inherit' })
  process.env['MILLRACE_BUILT'] = 'yes'
}
