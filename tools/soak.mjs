// Both halves of the soak; each ends the process with 1 when it finds something wrong.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { prepare } from './prepare.mjs'

await prepare({ dev: true })
run('main', process.argv.slice(2))
run('big-log-main', [])

function run(name, args) {
  const program = fileURLToPath(new URL(`../bench/dist/soak/${name}.js`, import.meta.url))
  const { status } = spawnSync(process.execPath, [program, ...args], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
