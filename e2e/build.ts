// The tests run what is built; this brings it up to date.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export function setup(): void {
  const root = fileURLToPath(new URL('..', import.meta.url))
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-b', 'packages/cli'], {
    cwd: root,
    stdio: 'inherit',
  })
}
