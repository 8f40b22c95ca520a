// Runs the faults. Exits with 1 if it finds an error.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { prepare } from './prepare.mjs'

await prepare({ dev: true })
const program = fileURLToPath(new URL('../proofs/dist/faults/main.js', import.meta.url))
const { status } = spawnSync(process.execPath, [program, ...process.argv.slice(2)], { stdio: 'inherit' })
process.exit(status ?? 1)
