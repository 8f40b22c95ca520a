// Builds once a run, because tests run compiled code. `npm test` has done that already.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export function setup(): void {
  if (process.env['MILLRACE_BUILT']) return
  const root = fileURLToPath(new URL('../..', import.meta.url))
  execFileSync(process.execPath, ['tools/prepare.mjs'], { cwd: root, stdio: 'inherit' })
  process.env['MILLRACE_BUILT'] = 'yes'
}
