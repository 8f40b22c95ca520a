// Runs both halves of the soak. Each exits with 1 if it finds an error.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { prepare } from './prepare.mjs'

await prepare({ dev: true })
run('main', process.argv.slice(2))
run('big-log-main', [])

function run(name, args) {
  const program = fileURLToPath(new URL(`../proofs/dist/soak/${name}.js`, import.meta.url))
  const { status } = spawnSync(process.execPath, [program, ...args], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
