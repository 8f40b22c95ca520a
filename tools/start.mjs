import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { stopWithParent } from '../packages/cli/bin/stop-with-parent.js'
import { prepareOrExit, root } from './prepare.mjs'

const parent = process.ppid

await prepareOrExit({ dev: false })

if (process.env.npm_lifecycle_event) stopWithParent(parent)

const program = join(root, 'packages', 'cli', 'bin', 'millrace.js')
process.argv = [process.argv[0], program, 'up', ...process.argv.slice(2)]
await import(pathToFileURL(program).href)
