import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { prepareOrExit, root } from './prepare.mjs'

const parent = process.ppid

await prepareOrExit({ dev: false })

// npm and its shell end on SIGTERM without passing it on, so this process stops when its parent is gone.
if (process.env.npm_lifecycle_event) {
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, 200)
  timer.unref()
}

const program = join(root, 'packages', 'cli', 'bin', 'millrace.js')
process.argv = [process.argv[0], program, 'up', ...process.argv.slice(2)]
await import(pathToFileURL(program).href)
